"""Every way in which speech engines without a fallback fail: an answer, or the end with all that was said kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytestmark = pytest.mark.thorough

DISCONNECTED = (4006, "GEMINI_DISCONNECTED")
AT_ONCE = 3
SLACK_S = 5.0
RECOGNITION_S = 20.0
"""What a segment may take beyond that: four times as long as such segments took lately on a busy machine."""
TRIES = 2
"""How often a turn is prepared, or a segment may be lost, before the exam ends."""
REPLIES = [f"The train leaves at {hour} in the morning." for hour in ("six", "seven", "eight")]
GOOD_REPLY = "There is a bus at noon."


@dataclass(frozen=True)
class Fault:
    """How the engine answers; whether the exam goes on all the same."""

    answer: Callable[[Any], Any]
    goes_on: bool = False


VOICES = {
    "accepted, then silent": Fault(lambda a: a.silent),
    "a head, then silence": Fault(lambda a: a.head_only(a.PCM)),
    "half a second of sound every 2 s, for ever": Fault(lambda a: a.endless(a.PCM, a.tone(0.5), 2.0), goes_on=True),
    "401": Fault(lambda a: a.status(401)),
    "500 once": Fault(lambda a: a.once(a.status(500), a.SOUNDS), goes_on=True),
    "500": Fault(lambda a: a.status(500)),
    "noise": Fault(lambda a: a.NOISE, goes_on=True),
    "broken off in the middle": Fault(lambda a: a.broken_off(a.PCM, a.tone(0.5)), goes_on=True),
    "no sound": Fault(lambda a: a.whole(a.PCM)),
    "a page of HTML": Fault(lambda a: a.PAGE),
}
EARS = {
    "accepted, then silent": Fault(lambda a: a.silent),
    "a head, then silence": Fault(lambda a: a.head_only("application/json")),
    "401": Fault(lambda a: a.status(401)),
    "429": Fault(lambda a: a.status(429)),
    "429 that asks for a minute": Fault(lambda a: a.status(429, Retry_After="60")),
    "500": Fault(lambda a: a.status(500)),
    "nonsense": Fault(lambda a: a.NONSENSE),
    "a page of HTML": Fault(lambda a: a.PAGE),
}


@dataclass(frozen=True)
class Exam:
    """What became of an exam: its close, what its candidate said and heard, after how long, what is stored."""

    close: tuple[int, str]
    said: list[str]
    heard: list[str]
    waited_s: float
    stored: dict[str, Any]


async def in_turn(names: Iterable[str], exam: Callable[[str, int], Awaitable[Exam]]) -> dict[str, Any]:
    """Sit exams, ``AT_ONCE`` at once, each at a place of its own; return the finished tasks."""
    places: asyncio.Queue[int] = asyncio.Queue()
    for place in range(AT_ONCE):
        places.put_nowait(place)

    async def one(name: str) -> Exam:
        place = await places.get()
        try:
            return await exam(name, place)
        finally:
            places.put_nowait(place)

    tasks = {name: asyncio.create_task(one(name)) for name in names}
    await asyncio.wait(tasks.values())
    return tasks


@pytest.fixture(scope="module")
def voices(elsewhere: Any, answers: Any, sit: Any, watch: Any, dickens: Any) -> dict[str, Any]:
    """Sit an exam of task 2 for each fault of the voice."""
    look = watch(elsewhere.server)

    async def exam(fault: str, place: int) -> Exam:
        reply, sub = REPLIES[place], f"voice {fault}"
        elsewhere.llm.tell(answers.says(reply), (await look.subjects())[place]["consigne"][:40])
        elsewhere.tts.tell(VOICES[fault].answer(answers), reply)
        async with sit(elsewhere.server, "t2", sub, subject=place) as candidate:
            await candidate.say(dickens(9, 11))
            said = await candidate.until("caption", role="candidate")
            came_at_s = await candidate.until_any("audio")
            if not candidate.over:
                await candidate.until("turnComplete")
                await candidate.end()
            close = await candidate.until_closed()
        waited_s, heard = came_at_s - said.at_s, candidate.heard_as("examiner")
        return Exam(close, candidate.heard_as("candidate"), heard, waited_s, await look.evaluated(sub))

    return asyncio.run(in_turn(VOICES, exam))


@pytest.mark.parametrize("fault", VOICES)
def test_a_fault_of_the_voice_ends_in_sound_or_in_4006(
    voices: dict[str, Any], reply_timeout_s: float, fault: str
) -> None:
    """Never in silence. Words that were not heard are not in the transcript; what was begun counts as heard."""
    exam, goes_on = voices[fault].result(), VOICES[fault].goes_on
    assert exam.close == ((1000, "") if goes_on else DISCONNECTED)
    assert exam.waited_s <= TRIES * reply_timeout_s + SLACK_S
    assert len(exam.heard) == goes_on
    assert set(exam.heard) <= set(REPLIES)
    lines = [f"Candidate: {exam.said[0]}", *(f"Examiner: {text}" for text in exam.heard)]
    assert (exam.stored["transcript"], exam.stored["statut"]) == ("\n".join(lines), "evaluated")


@pytest.fixture(scope="module")
def ears(elsewhere: Any, answers: Any, sit: Any, watch: Any, dickens: Any) -> dict[str, Any]:
    """Sit an exam of task 2 for each fault of speech to text: a turn that goes well, then two that are not understood.

    Each candidate is as loud as no other, so that their requests can be told apart.
    """
    heard_well = dickens(9, 11)

    async def exam(fault: str, place: int) -> Exam:
        said = (heard_well * (0.9 - 0.05 * place)).astype(np.int16)
        elsewhere.stt.tell(elsewhere.hears, mark_of(said))
        sub = f"ears {fault}"
        async with sit(elsewhere.server, "t2", sub, subject=AT_ONCE) as candidate:
            await candidate.say(said)
            await candidate.until("turnComplete")
            elsewhere.stt.tell(EARS[fault].answer(answers), mark_of(said))
            failing_at_s = candidate.now_s
            await candidate.say(np.concatenate([said, said]))
            close = await candidate.until_closed()
        waited_s, stored = candidate.closed_at_s - failing_at_s, await watch(elsewhere.server).evaluated(sub)
        return Exam(close, candidate.heard_as("candidate"), candidate.heard_as("examiner"), waited_s, stored)

    elsewhere.llm.tell(answers.says(GOOD_REPLY))
    return asyncio.run(in_turn(EARS, exam))


def mark_of(pcm: NDArray[np.int16]) -> bytes:
    """Return the loudest moment of a recording as it is on the wire."""
    at = int(np.abs(pcm.astype(np.int32)).argmax())
    return pcm[at - 16 : at + 16].astype("<i2").tobytes()


@pytest.mark.parametrize("fault", EARS)
def test_two_turns_that_cannot_be_understood_end_in_4006(
    ears: dict[str, Any], reply_timeout_s: float, fault: str
) -> None:
    """Within two deadlines of a turn, and the time that the audio itself may take. What was said before is kept."""
    exam = ears[fault].result()
    assert exam.close == DISCONNECTED
    assert exam.waited_s <= TRIES * (reply_timeout_s + RECOGNITION_S) + SLACK_S
    lines = [f"Candidate: {exam.said[0]}", f"Examiner: {GOOD_REPLY}"]
    assert (exam.stored["transcript"], exam.stored["statut"]) == ("\n".join(lines), "evaluated")
    assert len(exam.said) == len(exam.heard) == 1
