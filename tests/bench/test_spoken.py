"""The client finds in what it has sent what the server's ear finds in what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from engines.errors import EngineFault
from engines.proofs import recording
from engines.protocols import Transcript
from engines.silero import SileroVoiceActivity
from server.bench.spoken import rules, spoken_in
from server.exam.facts import Fact, SegmentClosed, SpeechSustained, TurnEnded
from server.live.ear import Ear
from server.live.recogniser import Pace, Recogniser
from server.live.stages import Stages


class Deaf:
    """Speech to text that is of no use here: where speech lies is known without it."""

    async def transcribe(self, samples: np.ndarray, **asked: object) -> Transcript:
        raise EngineFault("stt", "expected nothing")


async def heard_by_the_ear(pcm: np.ndarray, vad: SileroVoiceActivity, silence_ms: int | None) -> list[Fact]:
    """The facts of a real ear, to which the stream comes in pieces of odd sizes."""
    facts: list[Fact] = []
    stages = Stages(lambda: asyncio.get_running_loop().time(), lambda stage, seconds: None)
    recogniser = Recogniser(Deaf(), "en", facts.append, stages, Pace())
    ear = Ear(vad.open(), recogniser, rules(silence_ms), facts.append, 30.0)
    tasks = [asyncio.ensure_future(part.run()) for part in (recogniser, ear)]
    data = pcm.astype("<i2").tobytes()
    for at in range(0, len(data), 4_321):
        await ear.hear(data[at : at + 4_321])
    ear.stop()
    await tasks[1]
    tasks[0].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return facts


@pytest.mark.parametrize("silence_ms", [500, 2000, None])
def test_positions_are_those_of_the_server(vad: Callable[[], SileroVoiceActivity], silence_ms: int | None) -> None:
    """Decisions, sustained speech and segments lie where the ear reports them, to the millisecond of its facts."""
    pause = np.zeros(40_000, np.int16)
    pcm = np.concatenate([pause, recording("en"), pause, recording("fr"), recording("en"), pause])
    pcm = pcm[: pcm.size // 512 * 512]

    async def both() -> None:
        facts = await heard_by_the_ear(pcm, vad(), silence_ms)
        spoken = await spoken_in(pcm, vad(), rules(silence_ms))
        ended = [fact.at_ms for fact in facts if isinstance(fact, TurnEnded)]
        assert [turn.decision // 16 for turn in spoken.turns] == ended
        assert len(ended) == (0 if silence_ms is None else 2)
        assert [at // 16 for at in spoken.sustained] == [
            fact.at_ms for fact in facts if isinstance(fact, SpeechSustained)
        ]
        segments = [(fact.start_ms, fact.end_ms) for fact in facts if isinstance(fact, SegmentClosed)]
        assert [(start // 16, end // 16) for start, end in spoken.segments] == segments
        for turn in spoken.turns:
            assert turn.begun < turn.speech_end < turn.pause_seen < turn.decision
            assert 0 <= turn.decision - turn.speech_end - (silence_ms or 0) * 16 < 512

    asyncio.run(both())
