"""The speech worker: faster-whisper and Kokoro in a process of their own, behind OpenAI's audio routes.

Started with ``python -m engines.worker --config JSON``. espeak-ng and phonemizer (GPL-3.0) are imported in this
process and in no other; nothing outside this package may import its modules, but for :mod:`engines.worker.config`.
"""
