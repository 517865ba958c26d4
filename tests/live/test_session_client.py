"""Whole sessions with clients that vanish, sleep, flood or do not read: none of them holds the exam up, or loses it."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from engines.protocols import STT_RATE_HZ
from server.exam.bank import Need, sentences
from server.exam.effects import Close

SPEECH = "je suis infirmière à Lyon et j'ai deux enfants qui vont à l'école"
PRICE = "Le billet coûte quarante euros. Le train part à huit heures du matin."


def now() -> float:
    return asyncio.get_running_loop().time()


def lines(room: Any) -> list[str]:
    return room.productions.only.transcript.splitlines()


def expect_kept(room: Any) -> None:
    """Check that the production is recorded, and handed to the evaluation once."""
    assert room.productions.only.statut == "recorded"
    assert len(room.evaluator.submitted) == 1


async def test_a_client_that_leaves_without_a_word_leaves_its_production(rooms: Any) -> None:
    """No end was asked for: the last words are kept all the same, and evaluated in the background."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        candidate.vanish()

    assert await room.conduct(script) == Close(1001, "CLIENT_LEFT")
    assert lines(room) == [f"Candidat : {SPEECH}"]
    assert room.candidate.refused == 0
    expect_kept(room)
    await asyncio.sleep(10)
    assert room.evaluator.cancelled == 0


async def test_a_client_that_leaves_in_mid_answer_leaves_what_it_heard(rooms: Any) -> None:
    """The answer stops, and the transcript has of it what had the time to be heard."""
    room = rooms.roleplay(PRICE)

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("audio")
        await candidate.keep_silent(2.4)
        candidate.vanish()

    assert await room.conduct(script) == Close(1001, "CLIENT_LEFT")
    said, answer = lines(room)
    assert said == "Candidat : combien coûte le billet"
    assert f"Examinateur : {PRICE}".startswith(answer)
    assert "Examinateur : Le billet coûte quarante euros." in answer
    expect_kept(room)


async def test_a_line_that_only_a_write_finds_broken_is_no_crash(rooms: Any) -> None:
    """The socket fails under a frame, as Starlette tells it: the exam ends by its own limits, and is kept."""
    room = rooms.roleplay(PRICE)

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        candidate.lose_the_line()

    await room.conduct(script)
    assert now() < 80
    assert lines(room)[0] == "Candidat : combien coûte le billet"
    expect_kept(room)


async def test_a_client_that_leaves_while_it_is_evaluated_ends_the_session(rooms: Any) -> None:
    """The report then is for the store alone."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        candidate.end()
        await asyncio.sleep(2)
        candidate.vanish()

    await room.conduct(script)
    assert "report" not in room.candidate.kinds
    expect_kept(room)


@pytest.mark.parametrize("task", ["interview", "roleplay"])
async def test_a_client_that_sends_nothing_is_idle_after_a_minute(rooms: Any, task: str) -> None:
    """Not one frame: 1001 after 60 s, and no production."""
    room = getattr(rooms, task)()

    async def script(candidate: Any) -> None:
        await asyncio.sleep(1_000)

    assert await room.conduct(script) == Close(1001, "IDLE_TIMEOUT")
    assert room.candidate.close == (1001, "IDLE_TIMEOUT")
    assert room.candidate.closed_at == pytest.approx(60.0, abs=5.0)
    assert room.productions.rows == {}


async def test_timers_need_no_audio(rooms: Any) -> None:
    """A client that sends no sound at all is asked at the drawn time, warned, and timed out."""
    room = rooms.interview(relances_s=(30,))

    async def script(candidate: Any) -> None:
        while True:
            await asyncio.sleep(20)
            candidate.send({"type": "ping"})

    assert await room.conduct(script) == Close(1000)
    candidate = room.candidate
    assert candidate.of("interruption_start")[0].at == pytest.approx(30.0, abs=1.6)
    assert candidate.sentences[0][0] in sentences("fr", Need.NOT_BEGUN)
    assert candidate.of("warning")[0].at == pytest.approx(150.0, abs=0.01)
    assert candidate.closed_at == pytest.approx(180.0, abs=3.1)


async def test_an_idle_client_leaves_its_production(rooms: Any) -> None:
    """What it had said before it fell silent is kept, and evaluated in the background."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await asyncio.sleep(1_000)

    assert await room.conduct(script) == Close(1001, "IDLE_TIMEOUT")
    assert lines(room) == [f"Candidat : {SPEECH}"]
    expect_kept(room)


async def test_waiting_for_the_report_is_not_idling(rooms: Any) -> None:
    """After the end a client has nothing to send: a report that takes minutes still reaches it."""
    room = rooms.interview()
    room.evaluator.seconds = 300.0

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    assert room.candidate.close == (1000, "")


async def test_audio_that_backs_up_closes_with_its_own_code(rooms: Any) -> None:
    """Detection that stands still for the limit: 1008, and what was said before is kept."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await candidate.keep_silent(3)
        room.vad.window_s = 1e6
        await candidate.keep_silent(120)

    assert await room.conduct(script) == Close(1008, "AUDIO_BACKLOG")
    assert room.candidate.close == (1008, "AUDIO_BACKLOG")
    assert lines(room) == [f"Candidat : {SPEECH}"]
    expect_kept(room)


async def test_ten_times_real_time_is_heard_to_the_word(rooms: Any) -> None:
    """A client that sends as fast as it can loses nothing: the audio clock rules."""
    room = rooms.interview()
    room.vad.window_s = 0.002
    words = [f"mot{count}" for count in range(100)]

    async def script(candidate: Any) -> None:
        for word in words:
            audio = np.concatenate([candidate._sounds.make(word, 0.3), np.zeros(STT_RATE_HZ, np.int16)])
            candidate.send_audio(audio.astype("<i2").tobytes())
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    assert lines(room)[0].removeprefix("Candidat : ").split() == words
    expect_kept(room)


@pytest.mark.parametrize("chunk", [1, 3, 1_001, 65_536])
async def test_chunks_of_any_size_are_heard(rooms: Any, chunk: int) -> None:
    """From a byte to 64 KiB, odd ones too."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        audio = candidate._sounds.make("bonjour", 0.4).astype("<i2").tobytes()
        for start in range(0, len(audio), chunk):
            candidate.send_audio(audio[start : start + chunk])
        candidate.end()
        await candidate.until("report")

    assert await room.conduct(script) == Close(1000)
    assert lines(room) == ["Candidat : bonjour"]


@pytest.mark.parametrize("task", ["interview", "roleplay"])
async def test_a_client_that_never_reads_blocks_nothing(rooms: Any, task: str) -> None:
    """Its words are heard and kept, the examiner's turn is given up, and the end comes within its bounds."""
    room = rooms.interview(relances_s=(30,)) if task == "interview" else rooms.roleplay(PRICE)
    room.candidate.reads = False
    ended = []

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.keep_silent(50)
        await candidate.say("merci beaucoup")
        candidate.end()
        ended.append(now())
        await candidate.keep_silent(100)

    await room.conduct(script)
    assert now() - ended[0] < 3 + room.evaluator.seconds + 5 + 1
    assert room.candidate.frames == []
    assert (
        " ".join(line.removeprefix("Candidat : ") for line in lines(room)) == "combien coûte le billet merci beaucoup"
    )
    expect_kept(room)


async def test_a_session_that_is_cancelled_keeps_what_was_recorded(rooms: Any) -> None:
    """The server stops: the finished turn is in the store, open, for the next start to evaluate."""
    room = rooms.roleplay(PRICE)

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("turnComplete")
        await candidate.keep_silent(1_000)

    with pytest.raises(TimeoutError):
        await room.conduct(script, timeout_s=30.0)
    assert lines(room) == ["Candidat : combien coûte le billet", f"Examinateur : {PRICE}"]
    assert (room.productions.only.statut, room.evaluator.submitted) == ("open", [])
