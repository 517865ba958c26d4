"""Whole sessions of task 2 with speculations: the answer is there at the decision; what is dropped leaves no trace."""

from __future__ import annotations

from typing import Any

import pytest

from engines.errors import EngineUnavailable
from server.exam.effects import Close
from server.exam.rules import RoleplayRules

PRICE = "Le billet coûte quarante euros."
TRAIN = "Le train part à huit heures."
RULES = RoleplayRules(speculations=3)
WINDOW_S = 0.032

ASKED = "combien coûte le billet"
GONE = EngineUnavailable("tts", "refused")


def lines(room: Any) -> list[str]:
    return room.productions.only.transcript.splitlines()


def decided_at(spoken_until: float) -> float:
    """When 2 s of silence have passed, in whole windows, the chunk that tells of it received."""
    return spoken_until + 2.0 + 2 * WINDOW_S + 0.1


async def finish(candidate: Any) -> None:
    await candidate.silent_until("turnComplete")
    candidate.end()
    await candidate.until("report")


def check_trace(room: Any, *answers: str) -> None:
    """Only ``answers`` were heard, stored and counted, in that order."""
    assert [text for text, _ in room.candidate.sentences] == list(answers)
    assert [line for line in lines(room) if line.startswith("Examinateur")] == [f"Examinateur : {a}" for a in answers]
    assert room.candidate.kinds.count("turnComplete") == len(answers)
    assert room.productions.only.latency["gap"]["count"] == len(answers)
    assert room.productions.only.latency["reply"]["count"] == len(answers)


async def test_a_confirmed_one_is_heard_at_the_decision(rooms: Any) -> None:
    """No gap is left; the segment was recognised once, the LLM asked once."""
    room = rooms.roleplay(PRICE, rules=RULES)

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await finish(candidate)

    assert await room.conduct(script) == Close(1000)
    check_trace(room, PRICE)
    assert room.candidate.of("audio")[0].at <= decided_at(4 * 0.3)
    assert room.productions.only.latency["gap"]["max"] < 5
    assert (room.stt.heard, len(room.llm.requests)) == ([ASKED], 1)
    assert (room.exam.speculations.confirmed, room.exam.speculations.wasted) == (1, 0)


async def test_the_llm_has_read_its_prompt_before_the_first_word(rooms: Any) -> None:
    """What the system message says is in its cache when the candidate begins."""
    room = rooms.roleplay(PRICE, rules=RULES)

    async def script(candidate: Any) -> None:
        await candidate.keep_silent(1.0)
        assert room.llm.warm_ups
        await candidate.say(ASKED)
        await finish(candidate)

    await room.conduct(script)
    assert room.llm.warm_ups[0][0] == room.llm.requests[0][0]


@pytest.mark.parametrize("before_ms", [300, 500, 1_500])
async def test_a_candidate_who_goes_on_is_answered_as_a_whole(rooms: Any, before_ms: int) -> None:
    """The reply that lay ready is never heard; the next one answers all that was said."""
    room = rooms.roleplay(PRICE, PRICE, rules=RULES)

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await candidate.keep_silent(2.0 - before_ms / 1000)
        await candidate.say("pour deux personnes")
        await finish(candidate)

    await room.conduct(script)
    check_trace(room, PRICE)
    assert "interrupted" not in room.candidate.kinds
    assert room.llm.last_user == f"{ASKED} pour deux personnes"
    assert lines(room)[0] == f"Candidat : {ASKED} pour deux personnes"


async def test_a_candidate_who_goes_on_10_ms_before_the_decision_cuts_in(rooms: Any) -> None:
    """Nobody can know yet that they do: the answer has begun when they are noticed, and is cut as at any barge-in."""
    room = rooms.roleplay(PRICE, PRICE, rules=RULES)

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await candidate.keep_silent(1.99)
        await candidate.say("pour deux personnes")
        await finish(candidate)

    await room.conduct(script)
    assert room.candidate.kinds.count("interrupted") == 1
    assert room.candidate.kinds.count("turnComplete") == 1
    cut = [line for line in lines(room)[1:-1] if line.startswith("Examinateur")]
    assert cut == [] or f"Examinateur : {PRICE}".startswith(cut[0])
    assert lines(room)[-1] == f"Examinateur : {PRICE}"
    assert "pour deux personnes" in room.llm.last_user


async def test_one_that_went_on_three_times_has_spent_its_budget(rooms: Any) -> None:
    """Three replies are wasted at most; then the turn is answered as if there were none."""
    room = rooms.roleplay(*[PRICE] * 4, rules=RULES)

    async def script(candidate: Any) -> None:
        for words in ("combien coûte", "le billet", "pour deux", "personnes"):
            await candidate.say(words)
            await candidate.keep_silent(1.2)
        await finish(candidate)

    await room.conduct(script)
    check_trace(room, PRICE)
    assert len(room.llm.requests) == 4
    assert (room.exam.speculations.confirmed, room.exam.speculations.wasted) == (0, 3)
    assert room.llm.last_user == "combien coûte le billet pour deux personnes"


async def test_one_word_more_and_a_stop_make_it_anew(rooms: Any) -> None:
    """The reply to the first words is dropped, the one to all of them is there at the decision."""
    room = rooms.roleplay(PRICE, TRAIN, rules=RULES)

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await candidate.keep_silent(1.0)
        await candidate.say("demain")
        await finish(candidate)

    await room.conduct(script)
    check_trace(room, TRAIN)
    assert room.candidate.of("audio")[0].at <= decided_at(4 * 0.3 + 1.0 + 0.3)
    assert (room.exam.speculations.confirmed, room.exam.speculations.wasted) == (1, 1)


async def test_an_llm_slower_than_the_silence_keeps_its_lead(rooms: Any) -> None:
    """It was asked in the pause: the gap is what is left of its time, and nothing is asked twice."""
    room = rooms.roleplay(PRICE, rules=RULES)
    room.llm.first_s = 3.0

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await finish(candidate)

    await room.conduct(script)
    check_trace(room, PRICE)
    assert len(room.llm.requests) == 1
    assert 1_000 < room.productions.only.latency["gap"]["max"] < 2_100


async def test_a_voice_that_fails_in_one_is_asked_again_at_the_decision(rooms: Any) -> None:
    """The failure was nobody's turn: it leaves no trace."""
    room = rooms.roleplay(PRICE, PRICE, rules=RULES)
    room.tts.faults.append(GONE)

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await finish(candidate)

    assert await room.conduct(script) == Close(1000)
    check_trace(room, PRICE)
    assert len(room.llm.requests) == 2


async def test_the_end_in_one_stores_what_was_said(rooms: Any) -> None:
    """Nothing of the reply is sent or stored, and no request is left open (the room looks)."""
    room = rooms.roleplay(PRICE, rules=RULES)

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await candidate.keep_silent(1.5)
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    assert lines(room) == [f"Candidat : {ASKED}"]
    assert "audio" not in room.candidate.kinds
    assert len(room.llm.requests) == 1
    assert "reply" not in room.productions.only.latency


async def test_the_timeout_in_one_ends_the_exam(rooms: Any) -> None:
    """The same when time is up."""
    rules = RoleplayRules(speculations=3, session_timeout_ms=3_000, session_warning_ms=3_000)
    room = rooms.roleplay(PRICE, rules=rules)

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await candidate.silent_until("report")

    assert await room.conduct(script) == Close(1000)
    assert lines(room) == [f"Candidat : {ASKED}"]
    assert "audio" not in room.candidate.kinds


async def test_after_a_barge_in_the_next_answer_is_prepared_in_its_pause(rooms: Any) -> None:
    """The cut is taken into the history of the reply that is prepared after it."""
    room = rooms.roleplay(f"{TRAIN} {PRICE}", PRICE, rules=RULES)

    async def script(candidate: Any) -> None:
        await candidate.say("à quelle heure part le train")
        await candidate.silent_until("audio")
        await candidate.keep_silent(1.0)
        await candidate.say("et combien coûte le billet")
        await finish(candidate)

    await room.conduct(script)
    interrupted = room.candidate.of("interrupted")[0].at
    answered = next(frame.at for frame in room.candidate.of("audio") if frame.at > interrupted + 1.0)
    assert room.productions.only.latency["gap"]["max"] < 5
    assert answered > interrupted + 2.0
    heard = lines(room)[1].removeprefix("Examinateur : ")
    assert TRAIN.startswith(heard)
    assert ("assistant", heard) in room.llm.requests[1]


async def test_under_load_there_is_none(rooms: Any) -> None:
    """Recognition that lags behind leaves no room for guesses: the session works without."""
    room = rooms.roleplay(PRICE, rules=RULES)
    room.stt.speed = 3.0
    room.exam._has_room = lambda: False

    async def script(candidate: Any) -> None:
        await candidate.say(ASKED)
        await finish(candidate)

    await room.conduct(script)
    check_trace(room, PRICE)
    assert room.exam.speculations.confirmed == 0
    assert len(room.stt.heard) == 1
