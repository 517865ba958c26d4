"""The report: ``report.data`` of the wire contract, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from server.exam.assessment import MAX_POINTS, Assessment
from server.exam.nclc import nclc


@dataclass(frozen=True, slots=True)
class Phonology:
    """The acoustic part: 0 to 4 points, how they were come by, and the figures that were measured, in their units."""

    score: float
    method: Literal["acoustic", "stub"]
    figures: Mapping[str, float]


def stub_phonology(assessment: Assessment) -> Phonology:
    """Return what stands in when nothing is measured: the mean of the textual criteria, so that it moves no score."""
    mean = assessment.score / len(assessment.criteria)
    return Phonology(min(mean, MAX_POINTS), "stub", {})


def build_report(
    *,
    production_id: str,
    tache: str,
    assessment: Assessment,
    phonology: Phonology,
    transcript: str,
    duration_ms: int,
    latency: Mapping[str, object],
) -> dict[str, object]:
    """Return ``report.data``.

    ``score`` is the textual score and the phonology's together, rounded to a whole number from 0 to 20 (a half
    goes up), and ``nclc`` its level. ``latency`` is what was measured, in milliseconds.
    """
    score = int(assessment.score + phonology.score + 0.5)
    return {
        "productionId": production_id,
        "tache": tache,
        "score": score,
        "scoreTextuel": assessment.score,
        "phonologie": {**phonology.figures, "score": phonology.score, "method": phonology.method},
        "nclc": nclc(score),
        "criteres": [asdict(criterion) for criterion in assessment.criteria],
        "pointsForts": list(assessment.strong_points),
        "pointsAmelioration": list(assessment.improvements),
        "corrections": [asdict(correction) for correction in assessment.corrections],
        "transcript": transcript,
        "durationMs": duration_ms,
        "latency": dict(latency),
    }
