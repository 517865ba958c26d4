"""The evaluation: a bounded request, and a strict reading of what comes back."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.exam.assessment import COMMENT_CHARS, CRITERIA, MAX_TOKENS, schema
from server.exam.evaluation import TRANSCRIPT_CHARS, InvalidAssessment, evaluation_request, parse_assessment

TRANSCRIPT = "Candidat : Je suis allé au marché et j'ai acheté des pomme.\nExaminateur : Et ensuite ?"

ANSWER: dict[str, Any] = {
    "tache": {"comment": "Sujet traité.", "score": 3},
    "coherence": {"comment": "Clair.", "score": 2},
    "lexique": {"comment": "Simple.", "score": 2},
    "grammaire": {"comment": "Quelques fautes.", "score": 4},
    "pointsForts": ["Débit régulier."],
    "pointsAmelioration": ["Varier les temps.", "Enrichir les liens."],
    "corrections": [{"said": "des pomme", "better": "des pommes", "why": "Pluriel."}],
}


def answer(change: Callable[[dict[str, Any]], object] = lambda _: None) -> str:
    """The right answer, changed."""
    fields = copy.deepcopy(ANSWER)
    change(fields)
    return json.dumps(fields)


BAD = {
    "not JSON": "Voici mon évaluation :",
    "empty": "",
    "cut short": answer()[:-20],
    "in a fence": f"```json\n{answer()}\n```",
    "two of them": answer() * 2,
    "nested without end": "[" * 200_000,
    "a list": "[]",
    "null": "null",
    "a key missing": answer(lambda a: a.pop("lexique")),
    "a key too many": answer(lambda a: a.update(total=12)),
    "a score that is a text": answer(lambda a: a["tache"].update(score="3")),
    "a score that is true": answer(lambda a: a["tache"].update(score=True)),
    "a score with a fraction": answer(lambda a: a["tache"].update(score=2.5)),
    "a score above": answer(lambda a: a["tache"].update(score=5)),
    "a score below": answer(lambda a: a["tache"].update(score=-1)),
    "a score that is NaN": answer(lambda a: a["tache"].update(score=float("nan"))),
    "a criterion that is a number": answer(lambda a: a.update(tache=3)),
    "a criterion without comment": answer(lambda a: a["tache"].pop("comment")),
    "an empty comment": answer(lambda a: a["tache"].update(comment=" \n")),
    "half a surrogate pair": answer(lambda a: a["tache"].update(comment="bad \ud800 x")),
    "an endless comment": answer(lambda a: a["tache"].update(comment="x" * 601)),
    "no strong point": answer(lambda a: a.update(pointsForts=[])),
    "too many points": answer(lambda a: a.update(pointsAmelioration=["a", "b", "c"])),
    "points that are a text": answer(lambda a: a.update(pointsForts="tout")),
    "a point that is a number": answer(lambda a: a.update(pointsForts=[1])),
    "corrections that are null": answer(lambda a: a.update(corrections=None)),
    "too many corrections": answer(lambda a: a.update(corrections=a["corrections"] * 3)),
    "a correction without reason": answer(lambda a: a["corrections"][0].pop("why")),
    "a correction that is a text": answer(lambda a: a.update(corrections=["des pommes"])),
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_a_malformed_answer_is_refused(text: str) -> None:
    """One error, which says what was expected."""
    with pytest.raises(InvalidAssessment, match="expected"):
        parse_assessment(text, "fr", TRANSCRIPT)


def test_the_error_names_the_place_and_holds_no_text_of_the_answer() -> None:
    """It goes to a log."""
    text = answer(lambda a: a["lexique"].update(score="un secret"))
    with pytest.raises(
        InvalidAssessment, match=r"lexique\.score: expected a whole number from 0 to 4, got a str"
    ) as error:
        parse_assessment(text, "fr", TRANSCRIPT)
    assert "secret" not in str(error.value)
    with pytest.raises(InvalidAssessment) as error:
        parse_assessment(answer(lambda a: a.update(secret=1)), "fr", TRANSCRIPT)
    assert "secret" not in str(error.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_other_error_leaves_the_reading(value: Any) -> None:
    """Whatever JSON comes."""
    with pytest.raises(InvalidAssessment):
        parse_assessment(json.dumps(value), "fr", TRANSCRIPT)


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    """Whatever comes at all."""
    with pytest.raises(InvalidAssessment):
        parse_assessment(text, "fr", TRANSCRIPT)


def test_a_right_answer_is_read() -> None:
    """Criteria in their order and under their names; points add up to the textual score."""
    assessment = parse_assessment(answer(), "fr", TRANSCRIPT)
    assert [criterion.name for criterion in assessment.criteria] == list(CRITERIA["fr"].values())
    assert [criterion.score for criterion in assessment.criteria] == [3, 2, 2, 4]
    assert assessment.score == 11
    assert assessment.strong_points == ("Débit régulier.",)
    assert assessment.improvements == ("Varier les temps.", "Enrichir les liens.")
    (correction,) = assessment.corrections
    assert (correction.said, correction.better, correction.why) == ("des pomme", "des pommes", "Pluriel.")


@pytest.mark.parametrize(
    ("comment", "read"),
    [
        ("mot " * 19 + "abcd", "mot " * 19 + "…"),
        ("mot " * 19 + "abc.", "mot " * 19 + "abc."),
        ("mot " * 19 + "abc", "mot " * 19 + "abc"),
    ],
)
def test_a_text_that_the_schema_broke_off_ends_at_a_word(comment: str, read: str) -> None:
    """Of exactly the greatest length, and without a mark at its end."""
    assessment = parse_assessment(answer(lambda a: a["tache"].update(comment=comment)), "fr", TRANSCRIPT)
    assert len(comment) <= COMMENT_CHARS
    assert assessment.criteria[0].comment == read


@pytest.mark.parametrize(
    ("said", "better"),
    [
        ("j'ai mangé des poire", "j'ai mangé des poires"),
        ("des pom", "des pommes"),
        ("des pomme", "Des pomme."),
        ("…", "des pommes"),
    ],
)
def test_a_correction_of_what_was_never_said_or_that_changes_nothing_is_dropped(said: str, better: str) -> None:
    """Small models invent them; whole words in their order, case and marks aside."""
    text = answer(lambda a: a["corrections"][0].update(said=said, better=better))
    assert parse_assessment(text, "fr", TRANSCRIPT).corrections == ()


def test_only_the_candidates_words_are_corrected() -> None:
    """The examiner's are not his."""
    text = answer(lambda a: a["corrections"][0].update(said="Et ensuite", better="Et après"))
    assert parse_assessment(text, "fr", TRANSCRIPT).corrections == ()


@pytest.mark.parametrize("language", ["fr", "en"])
@pytest.mark.parametrize("task", ["EO_T1", "EO_T2"])
def test_the_request_holds_task_target_and_transcript(task: Any, language: Any) -> None:
    """One system and one user message, a bounded answer, little chance."""
    prompt = evaluation_request(task, language, TRANSCRIPT, 7)
    (system, user) = prompt.messages
    assert system[0] == "system"
    assert " 7" in system[1]
    assert "{" not in system[1]
    assert TRANSCRIPT in user[1]
    assert prompt.max_tokens == MAX_TOKENS <= 900
    other = evaluation_request("EO_T1" if task == "EO_T2" else "EO_T2", language, TRANSCRIPT, 7)
    assert other.messages != prompt.messages


def test_of_a_long_transcript_the_beginning_and_the_end_are_read() -> None:
    """What does not fit is left out in the middle, at whole words."""
    prompt = evaluation_request("EO_T1", "fr", "Candidat : début " + "mot " * 5_000 + "fin", 9)
    text = prompt.messages[1][1]
    assert len(text) < TRANSCRIPT_CHARS + 100
    assert "Candidat : début mot" in text
    assert "mot […] mot" in text
    assert "mot fin" in text


def longest(node: dict[str, Any]) -> Any:
    """The longest value that the schema allows."""
    match node["type"]:
        case "object":
            assert sorted(node["required"]) == sorted(node["properties"])
            assert node["additionalProperties"] is False
            return {key: longest(inner) for key, inner in node["properties"].items()}
        case "array":
            return [longest(node["items"])] * node["maxItems"]
        case "string":
            return "x" * node["maxLength"]
    return node["maximum"]


def test_the_longest_answer_under_the_schema_is_read_and_fits_its_tokens() -> None:
    """At three characters a token."""
    text = json.dumps(longest(dict(schema())), separators=(",", ":"))
    assert parse_assessment(text, "fr", TRANSCRIPT).score == 16
    assert len(text) / 3 <= MAX_TOKENS
