"""Engines that speak OpenAI's HTTP shapes: our own speech worker and llama.cpp, and any other that does."""
