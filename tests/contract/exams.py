"""Two whole exams with every engine real, sat at once on one server by two people; many tests look at what came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Human = Callable[[float, float], NDArray[np.int16]]
Spoken = Callable[[str], NDArray[np.int16]]

INTERVIEWEE, FLAT_HUNTER = "interviewee", "flat-hunter"


async def both(sit: Callable[..., Any], server: Any, human: Human, spoken: Spoken) -> tuple[Any, Any]:
    """Return the accounts of an interview and of a dialogue, held at the same time."""
    async with asyncio.TaskGroup() as group:
        interview = group.create_task(_interview(sit, server, human))
        dialogue = group.create_task(_dialogue(sit, server, spoken))
    return interview.result(), dialogue.result()


async def _interview(sit: Callable[..., Any], server: Any, human: Human) -> Any:
    """Task 1: "best of times" before the relance, "winter of despair" into it, "epoch of belief" after it."""
    async with sit(server, "t1", sub=INTERVIEWEE, captions="1") as candidate:
        speaking = asyncio.create_task(candidate.speak(human(0.7, 8.4), speed=1))
        await candidate.hear("interruption_start")
        speaking.cancel()
        await candidate.speak(human(17.4, 20.5))
        await candidate.hear("interruption_end")
        await candidate.speak(human(8.8, 12.9), speed=1)
        return await candidate.over()


async def _dialogue(sit: Callable[..., Any], server: Any, spoken: Spoken) -> Any:
    """Task 2: two questions. Between them nothing is sent: the examiner's pace is not the candidate's."""
    async with sit(server, "t2", sub=FLAT_HUNTER, captions="1") as candidate:
        assert await candidate.hears_nothing(1.5)
        candidate.mark("begins")
        for question in ("rent", "visit"):
            await candidate.speak(spoken(question), speed=1)
            await candidate.speak(np.zeros(24_000, np.int16))
            await candidate.hear("turnComplete")
        await candidate.say("end")
        return await candidate.over()
