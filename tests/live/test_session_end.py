"""Whole sessions to their end: it ends once, the last words are kept, the examiner is silent from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.exam.effects import Close
from server.exam.rules import InterviewRules, RoleplayRules

QUESTION = "Comment arrivez-vous à organiser vos semaines entre l'hôpital, la maison et vos deux enfants ?"
SPEECH = "je suis infirmière à Lyon et j'ai deux enfants qui vont à l'école"
PRICE = "Le billet coûte quarante euros. Le train part à huit heures du matin."
FROM_EXAMINER = ("audio", "interruption_start", "interrupted", "turnComplete", "interruption_end")


def now() -> float:
    return asyncio.get_running_loop().time()


def lines(room: Any) -> list[str]:
    return room.productions.only.transcript.splitlines()


def expect_silence_from(room: Any, moment: float) -> None:
    """Check that nothing of the examiner reached the client after ``moment``, in sound or in words."""
    late = [frame for frame in room.candidate.frames if frame.at > moment + 0.001]
    assert [frame.kind for frame in late if frame.kind in FROM_EXAMINER] == []
    assert [frame for frame in late if frame.content.get("role") == "examiner"] == []


def expect_one_report(room: Any) -> None:
    """Check that the production was closed and evaluated once, and that the client got that report, then the close."""
    assert room.productions.only.statut == "recorded"
    assert room.productions.writes.count("close") == 1
    assert len(room.evaluator.submitted) == 1
    assert room.candidate.kinds.count("report") == 1
    assert room.candidate.frames[-1].content == {"type": "report", "data": {"score": 12}}
    assert room.candidate.close == (1000, "")


async def test_an_end_in_mid_word_keeps_the_word(rooms: Any) -> None:
    """The words up to the end are transcribed, the half-spoken one too."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await candidate.say("maintenant", word_s=0.15)
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    assert lines(room) == [f"Candidat : {SPEECH} maintenant"]
    expect_one_report(room)


async def test_an_end_in_mid_relance_cuts_it(rooms: Any) -> None:
    """No sound after the end; the transcript keeps of the relance what was heard."""
    room = rooms.interview(QUESTION, relances_s=(30,))
    ended = []

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await candidate.silent_until("audio")
        await asyncio.sleep(2.0)
        candidate.end()
        ended.append(now())
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    expect_silence_from(room, ended[0])
    expect_one_report(room)
    assert room.candidate.closed_at - ended[0] < room.evaluator.seconds + 0.5
    said, asked = lines(room)
    heard = asked.removeprefix("Examinateur : ")
    assert said == f"Candidat : {SPEECH}"
    assert QUESTION.startswith(heard)
    assert 20 <= len(heard) <= 33


@pytest.mark.parametrize("second", [22.05, 22.5, 25.0, 29.99, 30.0])
async def test_an_end_while_a_relance_is_prepared_leaves_it_unheard(rooms: Any, second: float) -> None:
    """Stock taken, a question asked for or ready, or due this very moment: the client hears nothing."""
    room = rooms.interview(QUESTION, relances_s=(30,))

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await asyncio.sleep(second - now())
        candidate.end()
        await candidate.until("report")

    await room.conduct(script)
    expect_silence_from(room, second)
    expect_one_report(room)
    assert lines(room)[0] == f"Candidat : {SPEECH}"


async def test_an_end_at_the_moment_of_the_timeout_is_one_end(rooms: Any) -> None:
    """Both at once: one flush, one report."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.keep_silent(170)
        await candidate.say(SPEECH)
        await asyncio.sleep(180.0 - now())
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    expect_one_report(room)
    assert lines(room) == [f"Candidat : {SPEECH}"]


@pytest.mark.parametrize("later_s", [0.0, 0.05, 2.0, 4.9])
async def test_a_second_end_changes_nothing(rooms: Any, later_s: float) -> None:
    """Asked for again at once, in the flush, or while the evaluation runs: still one report."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        candidate.end()
        await asyncio.sleep(later_s)
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    expect_one_report(room)


async def test_audio_after_the_end_does_not_count(rooms: Any) -> None:
    """The last words are those up to the end, whatever the client goes on sending."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        candidate.end()
        await candidate.say("encore un mot")
        await candidate.until("report")

    await room.conduct(script)
    assert lines(room) == [f"Candidat : {SPEECH}"]


@pytest.mark.parametrize("wait_s", [2.05, 2.4, 3.2, 5.0])
async def test_an_end_around_an_answer_leaves_what_was_heard(rooms: Any, wait_s: float) -> None:
    """Task 2: prepared, just begun or half heard, the answer stops at the end and is kept as far as it was heard."""
    room = rooms.roleplay(PRICE)
    ended = []

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.keep_silent(wait_s)
        candidate.end()
        ended.append(now())
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    expect_silence_from(room, ended[0])
    expect_one_report(room)
    said, *answer = lines(room)
    assert said == "Candidat : combien coûte le billet"
    sent = sum(length for _, length in room.candidate.sentences)
    heard = len("".join(answer).removeprefix("Examinateur : ")) / 15
    assert heard <= sent + 0.1


async def test_slow_recognition_is_waited_for(rooms: Any) -> None:
    """The flush waits twice the time that the last words take at the measured speed, if that is longer."""
    room = rooms.interview()
    room.stt.speed = 0.9

    async def script(candidate: Any) -> None:
        await candidate.say(" ".join(f"mot{count}" for count in range(40)))
        candidate.end()
        await candidate.until("report")

    await room.conduct(script)
    assert lines(room)[0].split()[-1] == "mot39"
    expect_one_report(room)


async def test_a_recognition_that_hangs_does_not_hold_the_end_up(rooms: Any) -> None:
    """After the wait the exam is evaluated with the words that there are."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await candidate.keep_silent(3)
        room.stt.speed = 1e6
        await candidate.say("encore un mot")
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    assert lines(room) == [f"Candidat : {SPEECH}"]
    expect_one_report(room)


async def test_nothing_said_is_an_error_and_no_production(rooms: Any) -> None:
    """Silence alone: EMPTY_TRANSCRIPT, then 1000, and no row in the store."""
    room = rooms.roleplay()

    async def script(candidate: Any) -> None:
        await candidate.keep_silent(10)
        candidate.end()
        await candidate.until("error")

    assert await room.conduct(script) == Close(1000)
    assert [frame.content["code"] for frame in room.candidate.frames] == ["EMPTY_TRANSCRIPT"]
    assert room.candidate.close == (1000, "")
    assert (room.productions.writes, room.evaluator.submitted) == ([], [])


async def test_no_report_is_an_error_and_the_production_stays(rooms: Any) -> None:
    """The evaluation fails: CORRECTION_FAILED, then 1011 with that reason."""
    room = rooms.interview()
    room.evaluator.report = None

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        candidate.end()
        await candidate.until("error")

    assert await room.conduct(script) == Close(1011, "CORRECTION_FAILED")
    assert [frame.content["code"] for frame in room.candidate.of("error")] == ["CORRECTION_FAILED"]
    assert room.candidate.close == (1011, "CORRECTION_FAILED")
    assert lines(room) == [f"Candidat : {SPEECH}"]


@pytest.mark.parametrize("verb", ["open", "close"])
async def test_a_store_that_fails_at_the_end_is_an_error(rooms: Any, verb: str) -> None:
    """The final record cannot be made: PERSISTENCE_FAILED, then 1011 with that reason, and no evaluation."""
    room = rooms.interview()
    room.productions.fails = lambda tried, count: tried == verb

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        candidate.end()
        await candidate.until("error")

    assert await room.conduct(script) == Close(1011, "PERSISTENCE_FAILED")
    assert [frame.content["code"] for frame in room.candidate.of("error")] == ["PERSISTENCE_FAILED"]
    assert room.candidate.close == (1011, "PERSISTENCE_FAILED")
    assert room.evaluator.submitted == []


async def test_a_store_that_fails_in_the_middle_is_made_good_at_the_end(rooms: Any) -> None:
    """A failed write disturbs nobody: the exam goes on, and the last record has everything."""
    room = rooms.roleplay(PRICE)
    room.productions.fails = lambda tried, count: count <= 2

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("turnComplete")
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    assert lines(room) == ["Candidat : combien coûte le billet", f"Examinateur : {PRICE}"]
    expect_one_report(room)


async def test_every_finished_turn_is_stored_as_it_ends(rooms: Any) -> None:
    """A crash at any time loses no finished turn: each is in the store a moment after it ended."""
    room = rooms.roleplay(PRICE)
    seen = []

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("audio")
        seen.append(lines(room))
        await candidate.silent_until("turnComplete")
        await candidate.keep_silent(0.2)
        seen.append(lines(room))
        candidate.end()

    await room.conduct(script)
    asked = "Candidat : combien coûte le billet"
    assert seen == [[asked], [asked, f"Examinateur : {PRICE}"]]


moments = st.floats(0.0, 15.0)


@settings(max_examples=60, deadline=None)
@given(task=st.sampled_from(["t1", "t2"]), ends=st.lists(moments, max_size=3), left=st.one_of(st.none(), moments))
def test_however_it_ends_it_ends_once(
    run: Callable[..., Any], rooms: Any, task: str, ends: list[float], left: float | None
) -> None:
    """Ends, a client that leaves, and the timeout at 12 s, in any order and number: one production, one evaluation."""
    times = {"session_timeout_ms": 12_000, "session_warning_ms": 10_000}
    short_lead = {"relance_lead_ms": 2_000}
    room = (
        rooms.interview(QUESTION, relances_s=(6,), rules=InterviewRules(**times, **short_lead))
        if task == "t1"
        else rooms.roleplay(PRICE, rules=RoleplayRules(**times))
    )

    async def script(candidate: Any) -> None:
        loop = asyncio.get_running_loop()
        for moment in ends:
            loop.call_at(moment, candidate.end)
        if left is not None:
            loop.call_at(left, candidate.vanish)
        await candidate.say("je voudrais savoir combien coûte le billet pour Marseille")
        await candidate.keep_silent(60)

    close = run(room.conduct(script))
    first = min([*ends, 12.0, *([] if left is None else [left])])
    if not room.productions.rows:
        assert first < 0.3
        return
    row = room.productions.only
    assert (row.statut, len(room.evaluator.submitted)) == ("recorded", 1)
    spoken = ["je", "voudrais", "savoir", "combien", "coûte", "le", "billet", "pour", "Marseille"]
    heard = row.transcript.splitlines()[0].removeprefix("Candidat : ").split()
    assert heard == spoken[: len(heard)]
    assert len(heard) >= min(9, int((first - 0.1) / 0.3))
    expect_silence_from(room, first)
    gone = left is not None and left <= 12.0 + 4.9
    assert room.candidate.kinds.count("report") == (0 if gone and room.candidate.close is None else 1)
    assert close in (Close(1000), Close(1001, "CLIENT_LEFT"))
