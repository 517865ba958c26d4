"""What an evaluation says, as data, and the JSON Schema under which the LLM says it.

Four criteria of 0 to 4 points add up to the textual score of 0 to 16. Every list and text is bounded, so that a small
model on a CPU ends in reasonable time and a whole answer fits :data:`MAX_TOKENS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server.exam.notices import Language

MAX_TOKENS = 900
"""Tokens of one answer: its keys and the schema's longest texts, of as many tokens as lists of numbers take."""

MAX_POINTS = 4
"""Points of one criterion."""

COMMENT_CHARS, POINT_CHARS, PHRASE_CHARS = 80, 80, 50
MAX_POINTS_LISTED, MAX_CORRECTIONS = 2, 2

CRITERIA: dict[Language, dict[str, str]] = {
    "fr": {
        "tache": "Réalisation de la tâche",
        "coherence": "Cohérence et fluidité du discours",
        "lexique": "Étendue et maîtrise du vocabulaire",
        "grammaire": "Maîtrise de la grammaire",
    },
    "en": {
        "tache": "Fulfilment of the task",
        "coherence": "Coherence and flow of the speech",
        "lexique": "Range and command of vocabulary",
        "grammaire": "Command of grammar",
    },
}
"""The criteria: key in the LLM's answer, name in the report."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion: its name, 0 to 4 points, and why."""

    name: str
    score: int
    comment: str


@dataclass(frozen=True, slots=True)
class Correction:
    """What was said, how it is said better, and why."""

    said: str
    better: str
    why: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """The textual part of a report."""

    criteria: tuple[Criterion, ...]
    strong_points: tuple[str, ...]
    improvements: tuple[str, ...]
    corrections: tuple[Correction, ...]

    @property
    def score(self) -> int:
        """Points of all criteria: 0 to 16."""
        return sum(criterion.score for criterion in self.criteria)


def schema() -> Mapping[str, Any]:
    """Return the JSON Schema of the LLM's answer: evidence first, points last, as a model writes left to right."""
    points = _list(_text(POINT_CHARS), MAX_POINTS_LISTED, least=1)
    correction = _record(said=_text(PHRASE_CHARS), better=_text(PHRASE_CHARS), why=_text(PHRASE_CHARS))
    score = {"type": "integer", "minimum": 0, "maximum": MAX_POINTS}
    criterion = _record(comment=_text(COMMENT_CHARS), score=score)
    return _record(
        corrections=_list(correction, MAX_CORRECTIONS, least=0),
        pointsForts=points,
        pointsAmelioration=points,
        **dict.fromkeys(CRITERIA["fr"], criterion),
    )


def _record(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _text(longest: int) -> Mapping[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _list(items: Mapping[str, Any], most: int, *, least: int) -> Mapping[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}
