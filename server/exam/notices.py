"""What the server itself tells the candidate, in the language of the profile: the warning, and what went wrong."""

from __future__ import annotations

from typing import Literal

Language = Literal["fr", "en"]
ErrorCode = Literal["EMPTY_TRANSCRIPT", "PERSISTENCE_FAILED", "CORRECTION_FAILED"]

_ERRORS: dict[Language, dict[ErrorCode, str]] = {
    "fr": {
        "EMPTY_TRANSCRIPT": "Aucune parole n’a été entendue : il n’y a rien à évaluer.",
        "PERSISTENCE_FAILED": "Votre production n’a pas pu être enregistrée.",
        "CORRECTION_FAILED": "Votre production est enregistrée, mais son évaluation n’a pas abouti.",
    },
    "en": {
        "EMPTY_TRANSCRIPT": "No speech was heard: there is nothing to evaluate.",
        "PERSISTENCE_FAILED": "Your production could not be stored.",
        "CORRECTION_FAILED": "Your production is stored, but its evaluation did not succeed.",
    },
}


def error_text(language: Language, code: ErrorCode) -> str:
    """Return the sentence that goes with ``code``."""
    return _ERRORS[language][code]


def warning_text(language: Language, left_ms: int) -> str:
    """Return the warning that ``left_ms`` milliseconds are left."""
    minutes, seconds = divmod(round(left_ms / 1000), 60)
    if language == "fr":
        parts = [_count(minutes, "minute"), _count(seconds, "seconde")]
        return f"Il vous reste {' et '.join(filter(None, parts))}."
    parts = [_count(minutes, "minute"), _count(seconds, "second")]
    return f"You have {' and '.join(filter(None, parts))} left."


def _count(number: int, unit: str) -> str:
    if number == 0:
        return ""
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
