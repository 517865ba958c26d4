"""Exchangeable engines: voice activity, speech to text, language model, text to speech.

Nothing in this package imports ``server``: an engine is used by the exam, and knows nothing of it.
"""
