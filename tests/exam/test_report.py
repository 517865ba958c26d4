"""The report, to the field, and the level that goes with its score."""

from __future__ import annotations

import json

import pytest

from server.exam.assessment import Assessment, Correction, Criterion
from server.exam.nclc import nclc
from server.exam.notices import error_text, warning_text
from server.exam.report import Phonology, build_report, stub_phonology

ASSESSMENT = Assessment(
    tuple(Criterion(name, score, "Bien.") for name, score in (("A", 3), ("B", 3), ("C", 2), ("D", 3))),
    ("Débit régulier.",),
    ("Varier les temps.",),
    (Correction("des pomme", "des pommes", "Pluriel."),),
)


@pytest.mark.parametrize("score", [-1, 21])
def test_a_score_off_the_scale_has_no_level(score: int) -> None:
    """0 to 20."""
    with pytest.raises(ValueError, match=f"between 0 and 20, got {score}"):
        nclc(score)


def test_the_level_of_every_score() -> None:
    """16-20 → 10, 14-15 → 9, 12-13 → 8, 10-11 → 7, 7-9 → 6, 6 → 5, 4-5 → 4, below → 0."""
    levels = [nclc(score) for score in range(21)]
    assert levels == [0, 0, 0, 0, 4, 4, 5, 6, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 10, 10, 10]


def test_the_report_has_the_contracts_fields_and_no_other() -> None:
    """Names and shapes as clients know them; it is JSON as it stands."""
    report = build_report(
        production_id="p-1",
        tache="EO_T1",
        assessment=ASSESSMENT,
        phonology=Phonology(2.5, "acoustic", {"articulation_rate": 3.1}),
        transcript="Candidat : Bonjour",
        duration_ms=180_000,
        latency={"stt": {"p50": 210.0}},
    )
    assert json.loads(json.dumps(report)) == {
        "productionId": "p-1",
        "tache": "EO_T1",
        "score": 14,
        "scoreTextuel": 11,
        "phonologie": {"score": 2.5, "method": "acoustic", "articulation_rate": 3.1},
        "nclc": 9,
        "criteres": [
            {"name": "A", "score": 3, "comment": "Bien."},
            {"name": "B", "score": 3, "comment": "Bien."},
            {"name": "C", "score": 2, "comment": "Bien."},
            {"name": "D", "score": 3, "comment": "Bien."},
        ],
        "pointsForts": ["Débit régulier."],
        "pointsAmelioration": ["Varier les temps."],
        "corrections": [{"said": "des pomme", "better": "des pommes", "why": "Pluriel."}],
        "transcript": "Candidat : Bonjour",
        "durationMs": 180_000,
        "latency": {"stt": {"p50": 210.0}},
    }


@pytest.mark.parametrize("points", range(5))
def test_a_stub_moves_no_score(points: int) -> None:
    """It stands in with the mean of the criteria, and says what it is."""
    assessment = Assessment(tuple(Criterion(name, points, "x") for name in "ABCD"), (), (), ())
    stub = stub_phonology(assessment)
    assert (stub.score, stub.method, dict(stub.figures)) == (points, "stub", {})
    report = build_report(
        production_id="p",
        tache="EO_T1",
        assessment=assessment,
        phonology=stub,
        transcript="",
        duration_ms=0,
        latency={},
    )
    assert report["score"] == 5 * points


@pytest.mark.parametrize(
    ("left_ms", "fr", "en"),
    [
        (30_000, "Il vous reste 30 secondes.", "You have 30 seconds left."),
        (60_000, "Il vous reste 1 minute.", "You have 1 minute left."),
        (121_000, "Il vous reste 2 minutes et 1 seconde.", "You have 2 minutes and 1 second left."),
    ],
)
def test_the_warning_says_how_much_is_left(left_ms: int, fr: str, en: str) -> None:
    """Whatever the settings are."""
    assert warning_text("fr", left_ms) == fr
    assert warning_text("en", left_ms) == en


def test_every_error_has_a_sentence_in_both_languages() -> None:
    """A sentence each, none twice."""
    texts = [
        error_text(language, code)
        for language in ("fr", "en")
        for code in ("EMPTY_TRANSCRIPT", "PERSISTENCE_FAILED", "CORRECTION_FAILED")
    ]
    assert len(set(texts)) == 6
    assert all(text.endswith(".") for text in texts)
