"""The bank: sentences that keep the rules of their task without a model or a screen."""

from __future__ import annotations

import random
from typing import Any

import pytest

from server.exam.bank import Bank, Need, every_sentence, sentences
from server.exam.guard import PassiveScreen, RelanceScreen, is_question, word_count

RELANCES = (Need.NOT_BEGUN, Need.LITTLE_SAID, Need.RELANCE)


@pytest.fixture(params=["fr", "en"])
def language(request: pytest.FixtureRequest) -> Any:
    """Both languages."""
    return request.param


@pytest.mark.parametrize("need", RELANCES)
def test_a_relance_of_the_bank_is_one_question_of_10_to_20_words(language: Any, need: Need) -> None:
    """By the very screen that the LLM's words must pass, which changes nothing but the space before the mark."""
    for sentence in sentences(language, need):
        assert 10 <= word_count(sentence) <= 20
        assert is_question(sentence, language)
        screen = RelanceScreen(language)
        assert [text.replace("\u00a0", " ") for text in (*screen.feed(sentence), *screen.finish())] == [sentence]


def test_a_statement_of_the_bank_is_never_a_question(language: Any) -> None:
    """By the very screen of task 2."""
    for sentence in sentences(language, Need.STATEMENT):
        assert not is_question(sentence, language)
        screen = PassiveScreen(language)
        assert [*screen.feed(sentence), *screen.finish()] == [sentence]


def test_every_sentence_is_there_once_and_they_are_few(language: Any) -> None:
    """Each costs a synthesis at start-up; none is in two lists."""
    every = every_sentence(language)
    assert len(set(every)) == len(every) <= 12
    assert set(every) == {sentence for need in Need for sentence in sentences(language, need)}


@pytest.mark.parametrize("need", RELANCES)
def test_there_are_as_many_relances_of_a_kind_as_a_session_may_need(language: Any, need: Need) -> None:
    """Two are drawn at most."""
    assert len(sentences(language, need)) >= 2


def test_a_sentence_stays_the_next_one_until_it_is_spent() -> None:
    """What was prepared and never heard may still be said."""
    bank = Bank("fr")
    first = bank.look_up(Need.RELANCE)
    assert bank.look_up(Need.RELANCE) == first
    bank.spend(first)
    assert bank.look_up(Need.RELANCE) != first


def test_spending_what_is_spent_or_unknown_changes_nothing() -> None:
    """A sentence of the LLM is none of the bank's."""
    bank = Bank("fr")
    first = bank.look_up(Need.RELANCE)
    bank.spend("Autre chose ?")
    assert bank.look_up(Need.RELANCE) == first


def test_a_generator_shuffles_each_list_and_loses_none() -> None:
    """The same seed gives the same order; another one another."""
    orders = set()
    for seed in range(30):
        bank = Bank("en", random.Random(seed))
        order = []
        for _ in sentences("en", Need.STATEMENT):
            order.append(bank.look_up(Need.STATEMENT))
            bank.spend(order[-1])
        assert sorted(order) == sorted(sentences("en", Need.STATEMENT))
        orders.add(tuple(order))
    assert len(orders) > 10
