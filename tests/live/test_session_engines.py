"""Whole sessions whose engines fail: one more try, then the exam ends with its code, and what was said is kept."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from engines.errors import EngineUnavailable
from server.exam.bank import Need, sentences
from server.exam.effects import Close

PRICE = "Le billet coûte quarante euros."
ASKED = "combien coûte le billet"
FAILED = Close(4006, "GEMINI_DISCONNECTED")


def gone(engine: str) -> EngineUnavailable:
    return EngineUnavailable(engine, "connection refused")


def lines(room: Any) -> list[str]:
    return room.productions.only.transcript.splitlines()


async def ask(candidate: Any) -> None:
    await candidate.say(ASKED)
    await candidate.silent_until("turnComplete")
    candidate.end()
    await candidate.until("report")


async def ask_in_vain(candidate: Any) -> None:
    await candidate.say(ASKED)
    await candidate.keep_silent(300)


def expect_failed_and_kept(room: Any) -> None:
    """Check the close, that no report or error frame came before it, and that the production is kept and evaluated."""
    assert room.candidate.close == (4006, "GEMINI_DISCONNECTED")
    assert not {"report", "error", "audio"} & set(room.candidate.kinds)
    assert lines(room) == [f"Candidat : {ASKED}"]
    assert room.productions.only.statut == "recorded"
    assert len(room.evaluator.submitted) == 1


async def test_a_model_that_never_answers_ends_the_exam(rooms: Any, fakes: Any) -> None:
    """Two deadlines long the client waits, then it is told."""
    room = rooms.roleplay(fakes.NEVER, fakes.NEVER)
    assert await room.conduct(ask_in_vain) == FAILED
    expect_failed_and_kept(room)
    assert room.candidate.closed_at < 4 + 2 * room.terms.reply_timeout_s + 4


async def test_a_model_that_fails_twice_ends_the_exam(rooms: Any) -> None:
    """One more try, and no third."""
    room = rooms.roleplay(gone("llm"), gone("llm"))
    assert await room.conduct(ask_in_vain) == FAILED
    expect_failed_and_kept(room)


async def test_a_model_that_fails_once_is_asked_again(rooms: Any) -> None:
    """The candidate notices nothing but a longer wait."""
    room = rooms.roleplay(gone("llm"), PRICE)
    assert await room.conduct(ask) == Close(1000)
    assert lines(room) == [f"Candidat : {ASKED}", f"Examinateur : {PRICE}"]


async def test_a_synthesis_that_fails_twice_ends_the_exam(rooms: Any) -> None:
    """Words that cannot be spoken are not an answer, and do not reach the transcript."""
    room = rooms.roleplay(PRICE, PRICE)
    room.tts.always = gone("tts")
    assert await room.conduct(ask_in_vain) == FAILED
    expect_failed_and_kept(room)


async def test_a_synthesis_that_fails_once_is_tried_again(rooms: Any) -> None:
    """A worker that crashed is back for the second try: the answer is heard once."""
    room = rooms.roleplay(PRICE, PRICE)
    room.tts.faults = deque([gone("tts")])
    assert await room.conduct(ask) == Close(1000)
    assert [sentence for sentence, _ in room.candidate.sentences] == [PRICE]
    assert lines(room) == [f"Candidat : {ASKED}", f"Examinateur : {PRICE}"]


async def test_a_recognition_that_fails_once_ends_nothing(rooms: Any) -> None:
    """One segment is lost after its retries: the bank answers it, the candidate says it again, and is answered."""
    room = rooms.roleplay(PRICE)
    room.stt.faults = deque([gone("stt")])

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await candidate.silent_until("turnComplete")
        await candidate.say(ASKED)
        await candidate.silent_until("turnComplete", 2)
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    stands_in, *rest = lines(room)
    assert stands_in.removeprefix("Examinateur : ") in sentences("fr", Need.STATEMENT)
    assert rest == [f"Candidat : {ASKED}", f"Examinateur : {PRICE}"]


@pytest.mark.parametrize("task", ["interview", "roleplay"])
async def test_a_recognition_that_is_gone_ends_the_exam(rooms: Any, task: str) -> None:
    """Two segments lost in a row: nothing more would be heard, so the client is told."""
    room = rooms.roleplay(PRICE) if task == "roleplay" else rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say("bonjour madame")
        await candidate.keep_silent(5)
        room.stt.always = gone("stt")
        await candidate.say("une phrase perdue")
        await candidate.keep_silent(5)
        await candidate.say("une autre phrase perdue")
        await candidate.keep_silent(100)

    assert await room.conduct(script) == FAILED
    assert room.candidate.close == (4006, "GEMINI_DISCONNECTED")
    assert lines(room)[0] == "Candidat : bonjour madame"
    assert len(room.evaluator.submitted) == 1


async def test_a_detector_that_answers_nonsense_ends_the_exam(rooms: Any) -> None:
    """The words until then are recognised and kept."""
    room = rooms.roleplay()
    room.vad.fault_after = 37

    async def script(candidate: Any) -> None:
        await candidate.say(f"{ASKED} pour Marseille")
        await candidate.keep_silent(100)

    assert await room.conduct(script) == FAILED
    expect_failed_and_kept(room)
