"""Engines that speak the shapes of Gemini's ``generateContent``."""
