from __future__ import annotations

from collections.abc import Callable

import pytest

from server.exam.brief import Screen
from server.exam.guard import Language, PassiveScreen, RelanceScreen, is_question, word_count
from server.speech.sentences import SentenceSplitter

Rows = list[dict[str, str]]
Run = Callable[[Screen, list[str]], list[str]]

MODELS = [("fr", "qwen25_coder_1_5b_fr"), ("en", "smollm2_135m_en")]


def sentences(answer: str) -> list[str]:
    splitter = SentenceSplitter()
    return splitter.feed(answer) + splitter.finish()


@pytest.fixture(scope="module", params=MODELS, ids=[model for _, model in MODELS])
def model(request: pytest.FixtureRequest) -> tuple[Language, str]:
    return request.param  # type: ignore[no-any-return]


def test_no_question_of_a_model_passes(
    model: tuple[Language, str], answers: Callable[[str], Rows], table: Callable[[str], Rows], spoken: Run
) -> None:
    """Task 2: of what the small models really wrote, no sentence that a reader calls a question passes."""
    language, name = model
    asked = {row["sentence"] for row in table("outputs/t2_questions.tsv") if row["model"] == name}
    met = set()
    for answer in answers(name):
        if answer["task"] == "T2":
            written = sentences(answer["output"])
            met |= asked & set(written)
            passed = spoken(PassiveScreen(language), written)
            assert not asked & set(passed)
            assert not any(is_question(text, language) for text in passed)
    assert met == asked  # the labels are about these very outputs


def test_what_a_model_states_is_kept(
    model: tuple[Language, str], answers: Callable[[str], Rows], table: Callable[[str], Rows]
) -> None:
    """Task 2: at most 2 in 100 of what a reader calls a statement are taken for a question."""
    language, name = model
    asked = {row["sentence"] for row in table("outputs/t2_questions.tsv") if row["model"] == name}
    stated = [text for answer in answers(name) if answer["task"] == "T2" for text in sentences(answer["output"])]
    lost = [text for text in stated if text not in asked and is_question(text, language)]
    assert len(lost) <= 0.02 * len(stated), lost


def test_what_leaves_of_a_model_s_relances(
    model: tuple[Language, str], answers: Callable[[str], Rows], spoken: Run
) -> None:
    """Task 1: of every answer one question of 10 to 20 words leaves, or nothing; of some it does."""
    language, name = model
    left = [
        spoken(RelanceScreen(language), sentences(answer["output"]))
        for answer in answers(name)
        if answer["task"] == "T1"
    ]
    assert len(left) == 25
    for relance in left:
        assert len(relance) <= 1
        assert all(10 <= word_count(text) <= 20 and text.endswith("?") and text.count("?") == 1 for text in relance)
    assert any(left)
