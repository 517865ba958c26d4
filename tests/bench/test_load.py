"""Many candidates at one server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from types import ModuleType

import pytest

from engines.proofs import recording
from engines.silero import SileroVoiceActivity
from server.bench.figures import quantile
from server.bench.load import Loaded, measure_load
from server.bench.load_figures import load_figures
from server.bench.processes import children, command_line, use
from server.bench.venue import venue_at


def test_a_crowd_is_measured_and_those_without_a_place_are_counted(
    stand_in: ModuleType, vad: Callable[[], SileroVoiceActivity]
) -> None:
    """Of three candidates two sit: their gaps are the server's, and the third's refusal is told."""

    async def run() -> Loaded:
        async with stand_in.serving(stand_in.Manner(gap_s=0.12, answer_s=0.3, places=2), vad()) as server:
            venue = venue_at(server.url, "a token")
            return await measure_load(venue, "t2", [recording("en")], 3, 0.05, 500, vad(), silence_s=0.1)

    loaded = asyncio.run(run())
    figures = {figure.name: figure for figure in load_figures(loaded, "t2", "ci", 500)}
    assert {figure.group for figure in figures.values()} == {"3 sessions"}
    assert quantile(figures["gap"].samples, 0.5) == pytest.approx(120, abs=15)
    assert figures["refused with 1013"].samples == (1.0,)
    assert figures["closed with 1008, backlog"].samples == (0.0,)
    assert {turn.session for turn in loaded.measured.turns} <= {1, 2, 3}
    assert "memory of server, MB" not in figures, "a server elsewhere has no processes here"


def test_what_a_process_has_used_only_grows() -> None:
    """Processor time of this very process, whose memory is more than nothing; a process that is gone has none."""
    before = use(os.getpid())
    assert before is not None
    while (after := use(os.getpid())) is not None and after.cpu_s <= before.cpu_s:
        sum(range(10_000))
    assert after is not None
    assert after.rss_mb > 1
    assert use(2**22 + 1) is None
    assert command_line(2**22 + 1) == [""]
    assert children(2**22 + 1) == []
