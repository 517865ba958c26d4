"""What the bench says of a server whose delays are known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from engines.proofs import recording
from engines.silero import SileroVoiceActivity
from server.bench.figures import quantile
from server.bench.moments import counting
from server.bench.record import BenchError, Figure
from server.bench.turns import (
    Measured,
    interview_figures,
    measure_interview,
    measure_roleplay,
    roleplay_figures,
)
from server.bench.venue import venue_at

MakeVad = Callable[[], SileroVoiceActivity]
NEAR_MS = 25
"""How far a median may lie from the delay that was set: timers of 1 ms on either side, on a busy machine."""


@pytest.fixture
def roleplay(stand_in: ModuleType, vad: MakeVad) -> Callable[..., tuple[Measured, object]]:
    """Measure so many turns of a stand-in with this manner; give what was measured, and the stand-in."""

    def measure(manner: object, turns: int, silence_ms: int = 500) -> tuple[Measured, object]:
        async def run() -> tuple[Measured, object]:
            async with stand_in.serving(manner, vad(), silence_ms) as server:
                venue = venue_at(server.url, "a token")
                told: list[str] = []
                measured = await measure_roleplay(venue, [recording("en")], turns, 500, vad(), told.append)
                assert told == [f"exam 1: {turns} turns, {len(counting(measured.turns))} of them count"]
                return measured, server

        return asyncio.run(run())

    return measure


def by_name(figures: list[Figure], source: str = "outside") -> dict[str, Figure]:
    return {figure.name: figure for figure in figures if figure.source == source}


def test_the_delays_of_a_server_are_found_and_so_is_its_lie(
    roleplay: Callable[..., tuple[Measured, object]], stand_in: ModuleType
) -> None:
    """Gap, response and barge-in are those that the server was given; what it hides of its gap is shown."""
    manner = stand_in.Manner(gap_s=0.2, barge_in_s=0.08, answer_s=1.2, claims_gap_s=0.05)
    measured, server = roleplay(manner, 3)
    figures = roleplay_figures(measured, "ci", 500)
    outside, told = by_name(figures), by_name(figures, "/metrics")
    assert len(outside["gap"].samples) == len(counting(measured.turns)) > 0
    assert quantile(outside["gap"].samples, 0.5) == pytest.approx(200, abs=NEAR_MS)
    # 500 ms are 16 windows of 32 ms: silence is known to be complete after 512
    assert quantile(outside["response"].samples, 0.5) == pytest.approx(512 + 200, abs=NEAR_MS + 20)
    assert quantile(outside["speech to interrupted"].samples, 0.5) == pytest.approx(80, abs=NEAR_MS)
    assert quantile(told["gap"].samples, 0.5) == pytest.approx(50)
    assert quantile(outside["gap beyond the server's own"].samples, 0.5) == pytest.approx(150, abs=NEAR_MS)
    assert told["event loop late by over 20 ms"].samples == (3.0,)
    assert [latency["gap"]["count"] for latency in measured.stored] == [1]
    assert np.frombuffer(bytes(server.pcm), "<i2").any()  # type: ignore[attr-defined]


def test_a_server_that_does_not_wait_for_the_whole_silence_has_no_gap(
    roleplay: Callable[..., tuple[Measured, object]], stand_in: ModuleType
) -> None:
    """Where the server takes 300 ms of silence less than it should, no turn counts, and each says why."""
    measured, _ = roleplay(stand_in.Manner(gap_s=0.05, answer_s=0.7), 1, silence_ms=200)
    assert ["answered before its decision" in turn.faults for turn in measured.turns] == [True]
    assert by_name(roleplay_figures(measured, "ci", 500))["gap"].samples == ()


def test_a_relance_is_measured_from_its_drawn_time(stand_in: ModuleType, vad: MakeVad) -> None:
    """Drawn time to ``interruption_start``, and from there to the first audio."""

    async def run() -> Measured:
        manner = stand_in.Manner(drawn_s=(0.6, 1.2), interruption_s=0.07, breath_s=0.03)
        async with stand_in.serving(manner, vad()) as server:
            return await measure_interview(
                venue_at(server.url, "a token"), recording("en"), 4, lambda line: None, (600, 1200)
            )

    measured = asyncio.run(run())
    figures = by_name(interview_figures(measured))
    assert [(turn.session, turn.number) for turn in measured.turns] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert quantile(figures["drawn time to interruption_start"].samples, 0.5) == pytest.approx(70, abs=NEAR_MS)
    assert quantile(figures["interruption_start to first audio"].samples, 0.5) == pytest.approx(30, abs=NEAR_MS)


def test_a_refusal_is_told_with_its_reason(roleplay: Callable[..., object], stand_in: ModuleType) -> None:
    """A server without a place is no measurement of zero turns."""
    with pytest.raises(BenchError, match="1013 TRY_AGAIN_LATER"):
        roleplay(stand_in.Manner(places=0), 1)
