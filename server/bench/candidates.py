"""How the bench's candidates speak: questions and barge-ins in task 2, a monologue in task 1."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Sequence

from server.bench.hearing import Kind
from server.bench.sitting import Exam, Talk
from server.bench.voices import Voice

ANSWER_PATIENCE_S = 60.0
"""How long an answer is waited for: the server's own deadline of 20 s for a turn, three times."""

TURN_PATIENCE_S = 60.0
"""How long an answer may last: three sentences are fifteen seconds."""

BARGE_AFTER_S = 0.5
"""How long a candidate that cuts in has listened: short, since a small model's answers are."""

BARGE_EVERY = 2
"""Every second answer is cut into, so that half of the turns begin in silence and half in the examiner's words."""


def asking(questions: Iterable[Voice], *, counts: bool = True) -> Talk:
    """Return the way of a candidate who asks ``questions`` in turn and waits for each answer, or cuts into it.

    With ``counts``, the server's counters are read after each turn; with several sessions they would be everybody's.
    """

    async def talk(exam: Exam) -> None:
        if counts:
            exam.counted.append(await exam.inside.counted("t2"))
        since, said = len(exam.hearing.heard), False
        for number, (question, following) in enumerate(_with_next(questions), start=1):
            if not said:
                exam.microphone.speak(question)
            await exam.microphone.silent()
            first = await exam.hearing.first({Kind.FIRST_FRAME}, since, ANSWER_PATIENCE_S)
            said = first is not None and following is not None and number % BARGE_EVERY == 0
            if first is not None and not said:
                await exam.hearing.first({Kind.TURN_COMPLETE}, since, TURN_PATIENCE_S)
            since = len(exam.hearing.heard)
            if said and following is not None:
                await _cut_in(exam, following, since)
            if counts:
                exam.counted.append(await exam.inside.counted("t2"))

    return talk


def telling(voice: Voice, relances: int, *, patience_s: float, counts: bool = True) -> Talk:
    """Return the way of a candidate who speaks ``voice`` over and over, until so many relances have been heard.

    ``patience_s`` is how long a relance may be waited for, its drawn time included; ``counts`` as for :func:`asking`.
    """

    async def talk(exam: Exam) -> None:
        if counts:
            exam.counted.append(await exam.inside.counted("t1"))
        speaking = asyncio.create_task(_speak_on(exam, voice))
        try:
            for _ in range(relances):
                if not await _hear_relance(exam, patience_s):
                    return
                if counts:
                    exam.counted.append(await exam.inside.counted("t1"))
        finally:
            speaking.cancel()

    return talk


def in_turn(voices: Sequence[Voice], first: int, count: int) -> list[Voice]:
    """Return ``count`` of ``voices``, one after another from the one at ``first``, round and round."""
    return [voices[at % len(voices)] for at in range(first, first + count)]


async def _cut_in(exam: Exam, voice: Voice, since: int) -> None:
    await asyncio.sleep(BARGE_AFTER_S)
    exam.microphone.speak(voice)
    await exam.hearing.first({Kind.INTERRUPTED, Kind.TURN_COMPLETE}, since, TURN_PATIENCE_S)


async def _speak_on(exam: Exam, voice: Voice) -> None:
    while True:
        exam.microphone.speak(voice)
        await exam.microphone.silent()


async def _hear_relance(exam: Exam, patience_s: float) -> bool:
    since = len(exam.hearing.heard)
    if not await exam.hearing.first({Kind.INTERRUPTION_START}, since, patience_s):
        return False
    exam.microphone.muted = True
    ended = await exam.hearing.first({Kind.INTERRUPTION_END}, since, TURN_PATIENCE_S)
    exam.microphone.muted = False
    return ended is not None


def _with_next(voices: Iterable[Voice]) -> Iterable[tuple[Voice, Voice | None]]:
    ahead, following = itertools.tee(voices)
    return itertools.zip_longest(ahead, itertools.islice(following, 1, None))
