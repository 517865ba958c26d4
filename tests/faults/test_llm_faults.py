"""Every way in which a language model without a fallback fails: an answer, or the end with all that was said kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from server.exam.bank import Need, sentences

DISCONNECTED = (4006, "GEMINI_DISCONNECTED")
REPLY = sentences("en", Need.STATEMENT)[2]
"""In the bank, so that no synthesis on a busy machine is in the way; the sentence that stands in is another one."""
AT_ONCE = 3
"""Exams at once: more would measure this machine, not its server."""
SLACK_S = 5.0
"""Room for the voice, and for a machine that others use as well."""
TRIES = 2
"""How often a turn is prepared before its exam ends."""


@dataclass(frozen=True)
class Fault:
    """How the model answers; what is heard then (``None``: nothing, the exam ends); how long its next try waits."""

    answer: Callable[[Any], Any]
    heard: str | None = None
    next_try_s: float = 0.0


FAULTS = {
    "accepted, then silent": Fault(lambda a: a.silent),
    "a head, then silence": Fault(lambda a: a.head_only(a.EVENTS)),
    "400 because of stream_options": Fault(lambda a: a.refuses_stream_options(a.says(REPLY)), REPLY),
    "401": Fault(lambda a: a.status(401)),
    "404": Fault(lambda a: a.status(404)),
    "408": Fault(lambda a: a.status(408)),
    "429": Fault(lambda a: a.status(429)),
    "429 that asks for a second": Fault(lambda a: a.once(a.status(429, Retry_After="1"), a.says(REPLY)), REPLY, 1.0),
    "429 that asks for a minute": Fault(lambda a: a.status(429, Retry_After="60")),
    "500 once": Fault(lambda a: a.once(a.status(500), a.says(REPLY)), REPLY),
    "500": Fault(lambda a: a.status(500)),
    "broken off in its first sentence": Fault(lambda a: a.broken_off(a.EVENTS, a.token("The train"))),
    "broken off in its second sentence": Fault(
        lambda a: a.broken_off(a.EVENTS, a.token(f"{REPLY} It comes"), a.token(" in at")), REPLY
    ),
    "tokens without text": Fault(lambda a: a.TOKENS_WITHOUT_TEXT),
    "a word every 2 s, for ever": Fault(lambda a: a.endless(a.EVENTS, a.token("so "), 2.0)),
    "an error within the stream": Fault(
        lambda a: a.whole(a.EVENTS, a.event({"error": {"message": "no", "type": "server_error"}}))
    ),
    "a page of HTML": Fault(lambda a: a.PAGE),
}


@dataclass(frozen=True)
class Exam:
    """What became of an exam: its close, what its candidate said and heard, after how long, what is stored.

    ``asked_at`` are the moments at which the model was asked, which may be before the candidate's turn is over.
    """

    close: tuple[int, str]
    said: str
    heard: list[str]
    waited_s: float
    asked_at: list[float]
    stored: dict[str, Any]


@pytest.fixture(scope="module")
def exams(frail: Any, frail_llm: Any, answers: Any, sit: Any, watch: Any, dickens: Any) -> dict[str, Any]:
    """Sit an exam of task 2 for each fault. Each finished task has its :class:`Exam`."""

    async def one(fault: str, places: asyncio.Queue[tuple[int, str]]) -> Exam:
        subject, scene = await places.get()
        frail_llm.tell(FAULTS[fault].answer(answers), scene)
        try:
            return await faulty_exam(subject, scene, f"llm {fault}")
        finally:
            places.put_nowait((subject, scene))

    async def faulty_exam(subject: int, scene: str, sub: str) -> Exam:
        asked_before = len(frail_llm.asked(scene))
        async with sit(frail, "t2", sub, subject=subject) as candidate:
            await candidate.say(dickens(9, 11))
            said = await candidate.until("caption", role="candidate")
            came_at_s = await candidate.until_any("audio")
            if not candidate.over:
                await candidate.until("turnComplete")
                await candidate.end()
            close = await candidate.until_closed()
        stored = await watch(frail).evaluated(sub)
        waited_s = came_at_s - said.at_s
        asked = frail_llm.asked(scene)[asked_before:]
        asked_at = [each.begun_at for each in asked if not answers.is_warm_up(each)]
        return Exam(close, said.content["text"], candidate.heard_as("examiner"), waited_s, asked_at, stored)

    async def every() -> dict[str, Any]:
        places: asyncio.Queue[tuple[int, str]] = asyncio.Queue()
        for subject, row in enumerate((await watch(frail).subjects())[:AT_ONCE]):
            places.put_nowait((subject, row["consigne"][:40]))
        tasks = {fault: asyncio.create_task(one(fault, places)) for fault in FAULTS}
        await asyncio.wait(tasks.values())
        return tasks

    return asyncio.run(every())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_in_an_answer_or_in_4006(exams: dict[str, Any], reply_timeout_s: float, fault: str) -> None:
    """Never in silence: two deadlines of a turn are the longest wait. What was said is stored, and evaluated."""
    exam, expected = exams[fault].result(), FAULTS[fault]
    answered = expected.heard is not None
    assert exam.close == ((1000, "") if answered else DISCONNECTED)
    assert exam.heard == ([expected.heard] if answered else [])
    assert exam.waited_s <= TRIES * reply_timeout_s + SLACK_S
    assert exam.asked_at[-1] - exam.asked_at[0] >= expected.next_try_s
    lines = [f"Candidate: {exam.said}", *(f"Examiner: {text}" for text in exam.heard)]
    assert exam.stored["transcript"] == "\n".join(lines)
    assert exam.stored["statut"] == "evaluated"


@pytest.mark.parametrize("fault", ["accepted, then silent", "a head, then silence", "a word every 2 s, for ever"])
def test_a_model_that_says_nothing_is_waited_for(exams: dict[str, Any], reply_timeout_s: float, fault: str) -> None:
    """It has the whole of the first deadline, and then a second one: a slow machine is no failure."""
    asked_at = exams[fault].result().asked_at
    assert asked_at[-1] - asked_at[0] >= reply_timeout_s - 0.5


async def test_a_model_that_is_gone_ends_the_exam_and_the_next_one_is_held(
    frail: Any, frail_llm: Any, answers: Any, sit: Any, watch: Any, dickens: Any, reply_timeout_s: float
) -> None:
    """Refused connections: 4006, the transcript kept, though nobody can evaluate it. When it is back, all is well."""
    look = watch(frail)
    frail_llm.tell(answers.says(REPLY), (await look.subjects())[0]["consigne"][:40])
    frail_llm.refuse()
    try:
        async with sit(frail, "t2", "llm gone") as candidate:
            await candidate.say(dickens(9, 11))
            said = await candidate.until("caption", role="candidate")
            assert await candidate.until_closed() == DISCONNECTED
            assert candidate.closed_at_s - said.at_s <= TRIES * reply_timeout_s + SLACK_S
        stored = await look.recorded("llm gone")
        assert stored["transcript"] == f"Candidate: {said.content['text']}"
    finally:
        frail_llm.listen()
    async with sit(frail, "t2", "llm back") as candidate:
        await candidate.say(dickens(9, 11))
        await candidate.until("caption", role="examiner", text=REPLY)
        await candidate.until("turnComplete")
        await candidate.end()
        assert await candidate.until_closed() == (1000, "")
    assert (await look.only_production("llm back"))["statut"] == "evaluated"


INTERVIEWS = {
    "wisdom": (0, 8, lambda a: a.status(500)),
    "despair": (16, 24, lambda a: a.broken_off(a.EVENTS, a.token("What do you"))),
    "heaven": (24, 32, lambda a: a.endless(a.EVENTS, a.token("so "), 2.0)),
}
"""Words that tell the interviews apart, where in the reading they are, and how the model answers that one."""


async def test_a_relance_takes_place_when_its_model_fails(
    frail: Any, frail_llm: Any, answers: Any, sit: Any, dickens: Any, assert_on_time: Any
) -> None:
    """500, broken off, a trickle: on time and from the bank; the exam ends with its report."""

    async def interview(word: str) -> None:
        start_s, end_s, answer = INTERVIEWS[word]
        frail_llm.tell(answer(answers), word)
        async with sit(frail, "t1", f"llm {word}") as candidate:
            await candidate.say(dickens(start_s, end_s))
            assert_on_time(await candidate.until("interruption_start"))
            await candidate.until("interruption_end")
            (heard,) = candidate.heard_as("examiner")
            await candidate.end()
            assert await candidate.until_closed() == (1000, "")
        assert frail_llm.asked(word)
        assert heard in sentences("en", Need.RELANCE)

    await asyncio.gather(*map(interview, INTERVIEWS))
