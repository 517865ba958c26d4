"""The lead of a relance: as long as the last preparations took."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.exam import effects as do
from server.exam import facts
from server.exam.lead import FEW, KEPT, Lead


def test_while_nothing_is_known_it_is_the_longest() -> None:
    """The first relances of a server are prepared early rather than late."""
    lead = Lead(10)
    for _ in range(FEW - 1):
        lead.took(1)
    assert lead.seconds() == 10


def test_it_follows_the_slowest_of_the_last_preparations() -> None:
    """A little more than it; what is long ago is forgotten; never more than the longest."""
    lead = Lead(10)
    for seconds in [4] + [2] * (KEPT - 1):
        lead.took(seconds)
    assert lead.seconds() == pytest.approx(5.5)
    lead.took(2)
    assert lead.seconds() == pytest.approx(3.0)
    lead.took(30)
    assert lead.seconds() == 10


def test_an_interview_is_prepared_that_long_ahead_and_tells_what_it_took(interview: Callable[..., Any]) -> None:
    """Stock included; one that was given up counts with what it was given."""
    exam = interview(30, 60, relance_lead_ms=8_000)
    exam.exam._lead.took(2)
    exam.exam._lead.took(2)
    exam.says("un deux trois quatre cinq six sept huit neuf")
    assert exam.until(21.9) == []
    assert exam.until(22) == [do.TakeStock(1)]
    exam.until(23)
    exam(facts.StockTaken(1, ""))
    exam.until(24)
    exam(facts.ReplyReady(1))
    assert exam.exam._lead.seconds() == pytest.approx(3.0)
    exam.until(30)
    exam.speaks(1, "Pourquoi donc ?")
    assert exam.until(56.9) == []
    assert exam.until(57) == [do.TakeStock(2)]
    exam.until(70)
    assert exam.exam._lead.seconds() == pytest.approx(4 * 1.25 + 0.5)
