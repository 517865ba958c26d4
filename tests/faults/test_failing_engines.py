"""A language model that never answers, or answers nonsense; a database that cannot be written at the end."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from server.exam.bank import Need, sentences

NONSENSE = "1. **What** do you do?\n2. *Why?*\n- As an AI model, I cannot hear the candidate."


@pytest.mark.parametrize("reply", [None, NONSENSE], ids=["never answers", "nonsense"])
async def test_a_drawn_relance_takes_place_whatever_the_model_does(
    misled: Any, false_llm: Any, sit: Any, dickens: Any, assert_on_time: Any, reply: str | None
) -> None:
    """On time, from the bank; the model was asked."""
    false_llm.tell(reply)
    async with sit(misled, "t1", "cleo") as candidate:
        await candidate.say(dickens(16, 24))
        assert_on_time(await candidate.until("interruption_start"))
        await candidate.until("interruption_end")
        assert false_llm.asked["reply"] >= 1
        (heard,) = candidate.heard_as("examiner")
        assert heard in sentences("en", Need.RELANCE)
        await candidate.end()
        await candidate.until("report")


async def test_a_model_that_asks_is_never_heard_to_ask(misled: Any, false_llm: Any, sit: Any, dickens: Any) -> None:
    """Questions only, Markdown, reasoning: a neutral sentence in their place. A statement among them stays."""
    replies = [
        "Which day do you want to leave? Would you like a seat by the window?",
        "**Would you like a seat?**\n\n- Which day\n- What time is it",
        "<think>The customer wants a seat.</think>Do you want to pay now?",
        "Which day is it? The train leaves at nine.",
    ]
    async with sit(misled, "t2", "cleo") as candidate:
        for turn, reply in enumerate(replies, 1):
            false_llm.tell(reply)
            await candidate.say(dickens(9, 12))
            await candidate.until("turnComplete", turn)
        heard = candidate.heard_as("examiner")
        await candidate.end()
        await candidate.until("report")
    assert set(heard[:3]) < set(sentences("en", Need.STATEMENT))
    assert heard[3:] == ["The train leaves at nine."]
    assert not any("?" in text for text in heard)


async def test_an_evaluation_that_is_twice_invalid_fails(
    misled: Any, false_llm: Any, sit: Any, watch: Any, dickens: Any
) -> None:
    """CORRECTION_FAILED, then 1011; the production is kept with its transcript."""
    false_llm.tell(assessment="I would give it a 12.")
    async with sit(misled, "t1", "dora") as candidate:
        await candidate.say(dickens(9, 15))
        await candidate.until("caption")
        await candidate.end()
        assert (await candidate.until("error")).content["code"] == "CORRECTION_FAILED"
        assert await candidate.until_closed() == (1011, "CORRECTION_FAILED")
        heard = candidate.heard_as("candidate")
    assert false_llm.asked["assessment"] == 2
    production = await watch(misled).only_production("dora")
    assert (production["statut"], production["rapport"]) == ("failed", None)
    assert production["transcript"] == f"Candidate: {' '.join(heard)}"


async def test_a_database_that_is_locked_at_the_end_is_told(
    misled: Any, false_llm: Any, sit: Any, watch: Any, dickens: Any
) -> None:
    """Another writer holds it for longer than is waited: PERSISTENCE_FAILED, 1011. What was stored before is there."""
    false_llm.tell()
    look = watch(misled)
    database = Path(misled.env["RELANCE_DATA_DIR"]) / "relance.sqlite3"
    async with sit(misled, "t1", "emil") as candidate:
        await candidate.say(dickens(9, 15))
        await candidate.until("caption")

        await look.until(lambda: look.productions("emil"))
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            before = await look.only_production("emil")
            await candidate.end()
            assert (await candidate.until("error")).content["code"] == "PERSISTENCE_FAILED"
            assert await candidate.until_closed() == (1011, "PERSISTENCE_FAILED")
            other.execute("ROLLBACK")
    assert await look.only_production("emil") == before
    assert before["transcript"].startswith(f"Candidate: {candidate.heard_as('candidate')[0]}")
    assert false_llm.asked["assessment"] == 0
