"""What the server must decide about a stream, found out by its own rules from the audio that the client has sent.

The same model and the same endpoint as the server's, over the same samples: positions are equal, not similar.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.protocols import VAD_WINDOW_SAMPLES, VoiceActivity
from server.live.routes import SEGMENT_SILENCE_MS
from server.speech.endpoint import Endpoint, EndpointRules, Event, Paused, SegmentEnded, Started, Sustained, TurnEnded
from server.speech.pcm import to_float32


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A turn of the candidate as sample positions: its first voice, its last, where the pause and the end were known.

    ``speech_end`` is where the last voiced window ends; ``decision`` where the turn's silence is complete.
    """

    begun: int
    speech_end: int
    pause_seen: int
    decision: int


@dataclass(frozen=True, slots=True)
class Spoken:
    """What was said in a stream: turns in order, where speech was sustained, and segments as (start, end)."""

    turns: tuple[SpokenTurn, ...]
    sustained: tuple[int, ...]
    segments: tuple[tuple[int, int], ...]


def rules(turn_silence_ms: int | None) -> EndpointRules:
    """Return the rules that the server has for this silence (``None``: task 1, where silence ends no turn)."""
    segment_silence_ms = min(SEGMENT_SILENCE_MS, turn_silence_ms or SEGMENT_SILENCE_MS)
    return EndpointRules(segment_silence_ms=segment_silence_ms, turn_silence_ms=turn_silence_ms)


async def spoken_in(pcm: NDArray[np.int16], vad: VoiceActivity, by: EndpointRules) -> Spoken:
    """Return what is spoken in ``pcm``, int16 at 16 kHz, shape [n]; a last window that is not full does not count."""
    endpoint, stream = Endpoint(by), vad.open()
    told: list[tuple[int, Event]] = []
    whole = pcm[: pcm.size // VAD_WINDOW_SAMPLES * VAD_WINDOW_SAMPLES]
    try:
        for number, window in enumerate(whole.reshape(-1, VAD_WINDOW_SAMPLES), start=1):
            events = endpoint.push(await stream.probability(to_float32(window)))
            told += [(number * VAD_WINDOW_SAMPLES, event) for event in events]
    finally:
        stream.close()
    return Spoken(
        turns=tuple(_turns(told)),
        sustained=tuple(event.at for _, event in told if isinstance(event, Sustained)),
        segments=tuple((event.start, event.end) for _, event in told if isinstance(event, SegmentEnded)),
    )


def _turns(told: Iterable[tuple[int, Event]]) -> Iterable[SpokenTurn]:
    begun: int | None = None
    speech_end = pause_seen = 0
    for known_at, event in told:
        match event:
            case Started(at) if begun is None:
                begun = at
            case Paused(at):
                speech_end, pause_seen = at, known_at
            case TurnEnded(at) if begun is not None:
                yield SpokenTurn(begun, speech_end, pause_seen, at)
                begun = None
