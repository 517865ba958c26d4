"""Piper's voices: an adapter that speaks to a piper process in JSON lines, and such a process around ``piper-tts``."""
