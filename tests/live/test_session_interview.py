"""Whole sessions of task 1: the relance clock, and what a client sees and loses of an interruption."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engines.errors import EngineTimeout, EngineUnavailable
from server.exam.bank import Need, sentences
from server.exam.effects import Close

QUESTION = "Comment arrivez-vous à organiser vos semaines entre l'hôpital, la maison et vos deux enfants ?"
SPEECH = "je suis infirmière à Lyon et j'ai deux enfants qui vont à l'école"
RELANCES = sentences("fr", Need.RELANCE)
NOT_BEGUN = sentences("fr", Need.NOT_BEGUN)
LITTLE_SAID = sentences("fr", Need.LITTLE_SAID)


def now() -> float:
    return asyncio.get_running_loop().time()


def lines(room: Any) -> list[str]:
    return room.productions.only.transcript.splitlines()


async def talk_until(candidate: Any, second: float) -> None:
    """Speak short phrases with pauses until this second of the exam."""
    count = 0
    while now() < second:
        count += 1
        await candidate.say(f"phrase{count} fin{count}")
        await candidate.keep_silent(0.7)


async def interrupted(candidate: Any) -> None:
    await candidate.say(SPEECH)
    await talk_until(candidate, 35)
    await candidate.silent_until("interruption_end")
    candidate.end()
    await candidate.until("report")


def expect_one_relance(room: Any, expected: str) -> None:
    """Check the order and the times of one whole relance, as a client sees it."""
    candidate = room.candidate
    assert candidate.kinds_without("caption", "report") == [
        "interruption_start",
        "audio",
        "turnComplete",
        "interruption_end",
    ]
    (start,), (done,), (end,) = (
        candidate.of(kind) for kind in ("interruption_start", "turnComplete", "interruption_end")
    )
    audio = candidate.of("audio")
    assert candidate.frames.index(audio[0]) == candidate.frames.index(start) + 1
    assert [sentence for sentence, _ in candidate.sentences] == [expected]
    length = sum(len(frame.pcm) for frame in audio) / 24_000
    assert length == pytest.approx(len(expected) / 15, abs=0.01)
    assert audio[0].at - start.at < 0.001
    assert done.at >= audio[-1].at
    assert end.at >= audio[0].at + length - 1e-6


async def test_a_relance_is_asked_at_its_time(rooms: Any, client: Any) -> None:
    """Start, audio at once, complete, end not before it has been heard; at the drawn time, or the pause after it."""
    room = rooms.interview(QUESTION, relances_s=(30,))
    assert await room.conduct(interrupted) == Close(1000)
    expect_one_relance(room, QUESTION)
    assert 30.0 <= room.candidate.of("interruption_start")[0].at <= 31.5
    gap = room.productions.only.latency["gap"]
    assert gap["max"] == pytest.approx(1000 * (room.candidate.of("audio")[0].at - 30.0), abs=1)
    assert client.seconds_ahead(room.candidate.of("audio")) <= 1.0 + 1e-6
    assert [line.split(" :")[0] for line in lines(room)] == ["Candidat", "Examinateur"]
    assert lines(room)[1] == f"Examinateur : {QUESTION}"
    assert room.exam.relances == 1


async def test_a_relance_is_about_what_was_just_said(rooms: Any) -> None:
    """The model reads the candidate's words, those of the segment that is still open too."""
    room = rooms.interview(QUESTION, relances_s=(30,))

    async def script(candidate: Any) -> None:
        await candidate.keep_silent(14)
        await candidate.say(" ".join(f"mot{count}" for count in range(60)))
        await candidate.silent_until("interruption_end")
        candidate.end()

    await room.conduct(script)
    words = room.llm.last_user.split()
    assert words[0] == "mot0"
    assert len(words) == pytest.approx((20 - 14) / 0.3, abs=1)


async def test_what_is_said_during_a_relance_is_dropped(rooms: Any) -> None:
    """From the start of an interruption to its end the candidate's audio does not count; before and after it does."""
    room = rooms.interview(QUESTION, relances_s=(30,))

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await candidate.silent_until("interruption_start")
        await candidate.say("pendant", word_s=5.0)
        await candidate.silent_until("interruption_end")
        await candidate.say("après")
        candidate.end()
        await candidate.until("report")

    await room.conduct(script)
    assert lines(room) == [f"Candidat : {SPEECH}", f"Examinateur : {QUESTION}", "Candidat : après"]


async def test_a_candidate_in_mid_word_is_given_a_moment(rooms: Any) -> None:
    """Speech without a pause holds a relance up for the grace, and not longer; the words until then go before it."""
    room = rooms.interview(QUESTION, relances_s=(30,))

    async def script(candidate: Any) -> None:
        await candidate.keep_silent(15)
        await candidate.say(" ".join(f"mot{count}" for count in range(60)))
        await candidate.silent_until("interruption_end")
        candidate.end()

    await room.conduct(script)
    start = room.candidate.of("interruption_start")[0].at
    assert start == pytest.approx(31.5, abs=0.01)
    spoken = lines(room)[0].split()[2:]
    assert lines(room)[1] == f"Examinateur : {QUESTION}"
    assert len(spoken) == pytest.approx((31.5 - 15) / 0.3, abs=1)


async def test_two_relances_are_asked(rooms: Any) -> None:
    """Each drawn relance takes place; the second knows what the first one asked."""
    second = "Comment partagez-vous les tâches de la maison avec votre mari quand vous travaillez la nuit ?"
    room = rooms.interview(QUESTION, second, relances_s=(30, 60))

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await candidate.silent_until("interruption_end")
        await candidate.say("je travaille la nuit et mon mari travaille le jour")
        await candidate.silent_until("interruption_end", 2)
        candidate.end()

    await room.conduct(script)
    assert [sentence for sentence, _ in room.candidate.sentences] == [QUESTION, second]
    assert QUESTION in room.llm.last_user
    assert [frame.at // 1 for frame in room.candidate.of("interruption_start")] == [30, 60]


@pytest.mark.parametrize(
    "answers",
    [
        [None],
        [EngineUnavailable("llm", "refused")],
        [("Comment arrivez-vous", EngineTimeout("llm", "no next part"))],
        ["Très bien.", "Le candidat parle de sa vie."],
    ],
    ids=["never", "refused", "broken off", "nonsense"],
)
async def test_a_drawn_relance_takes_place_without_the_model(rooms: Any, fakes: Any, answers: list[Any]) -> None:
    """A model that never answers, fails, or answers nonsense: a sentence of the bank is asked, on time."""
    room = rooms.interview(*[fakes.NEVER if answer is None else answer for answer in answers], relances_s=(30,))
    assert await room.conduct(interrupted) == Close(1000)
    ((asked, _),) = room.candidate.sentences
    assert asked in RELANCES
    expect_one_relance(room, asked)
    assert 30.0 <= room.candidate.of("interruption_start")[0].at <= 33.0


async def test_a_drawn_relance_takes_place_without_synthesis(rooms: Any) -> None:
    """With the speech worker dead, the bank's audio, made ahead of time, is heard."""
    room = rooms.interview(QUESTION, relances_s=(30,))
    room.tts.always = EngineUnavailable("tts", "refused")
    assert await room.conduct(interrupted) == Close(1000)
    ((asked, _),) = room.candidate.sentences
    assert asked in RELANCES
    expect_one_relance(room, asked)


async def test_a_drawn_relance_takes_place_when_recognition_hangs(rooms: Any) -> None:
    """Timing is the server's: a recognition that takes for ever changes the words, not the time."""
    room = rooms.interview(relances_s=(30,))
    room.stt.speed = 1_000.0

    async def script(candidate: Any) -> None:
        await candidate.say(SPEECH)
        await talk_until(candidate, 29)
        await candidate.silent_until("interruption_end")
        candidate.end()

    await room.conduct(script)
    ((asked, _),) = room.candidate.sentences
    assert asked in RELANCES
    assert 30.0 <= room.candidate.of("interruption_start")[0].at <= 33.0


async def test_a_candidate_who_has_not_begun_is_asked_to(rooms: Any) -> None:
    """Without a word there is nothing to ask about: the bank has questions for that, and the model is not asked."""
    room = rooms.interview(relances_s=(30,))

    async def script(candidate: Any) -> None:
        await candidate.silent_until("interruption_end")
        candidate.end()

    assert await room.conduct(script) == Close(1000)
    ((asked, _),) = room.candidate.sentences
    assert asked in NOT_BEGUN
    assert room.candidate.kinds[-1] == "error"


async def test_a_candidate_who_has_said_little_is_asked_for_more(rooms: Any) -> None:
    """Under eight words the model is not asked."""
    room = rooms.interview(relances_s=(30,))

    async def script(candidate: Any) -> None:
        await candidate.say("je suis infirmière")
        await candidate.silent_until("interruption_end")
        candidate.end()

    await room.conduct(script)
    assert room.candidate.sentences[0][0] in LITTLE_SAID
    assert room.llm.requests == []


async def test_a_warning_comes_before_the_end(rooms: Any) -> None:
    """At 150 s the client is warned, at 180 s the exam ends by itself, with a report."""
    room = rooms.interview()

    async def script(candidate: Any) -> None:
        await talk_until(candidate, 190)

    assert await room.conduct(script) == Close(1000)
    assert room.candidate.of("warning")[0].at == pytest.approx(150.0, abs=0.01)
    assert 180 < room.candidate.of("report")[0].at < 190
    assert "interruption_start" not in room.candidate.kinds
