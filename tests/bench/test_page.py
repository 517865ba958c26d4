"""The page: whole in itself, well-formed, with every number."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from server.bench.page import page
from server.bench.plots import value
from server.bench.record import Record

Make = Callable[..., Record]


def words(text: str) -> str:
    """Everything that a reader can see or point at."""
    return " ".join(ET.fromstring(text).itertext())


@pytest.fixture(params=[1, 2])
def records(record: Make, request: pytest.FixtureRequest) -> list[Record]:
    """One run, and two."""
    return [record(), record("Another <run>", gaps=(6.25, 125.0, 3.5))][: request.param]


def test_the_page_is_well_formed(records: list[Record]) -> None:
    """It is XML, so that nothing in a record, not even a ``<``, breaks it."""
    root = ET.fromstring(page(records))
    assert [child.tag for child in root] == ["head", "body"]
    assert len(root.findall(".//svg")) > len(records)


def test_every_number_is_on_the_page(records: list[Record]) -> None:
    """Each sample of each figure, each mark of each turn, what the server told, each setting and each note."""
    seen = words(page(records))
    for run in records:
        for figure in run.figures:
            assert all(value(sample, figure.unit) in seen for sample in figure.samples)
            assert all(value(number, "") in seen for number in (figure.summarised or {}).values())
        for turn in run.turns:
            assert all(f"{name} {value(at, 'ms')}" in seen for name, at in turn.marks_ms.items())
            assert all(fault in seen for fault in turn.faults)
        assert all(str(setting) in seen for setting in run.settings.values())
        assert all(note in seen for note in run.notes)
        assert run.machine.cpu in seen


def test_the_page_needs_nothing_from_elsewhere(records: list[Record]) -> None:
    """No script, no address, no import: it opens on a machine without a network. It follows light and dark."""
    text = page(records)
    assert not re.search(r"<script|https?:|//[a-z]|url\(|@import|src=|href=|<link", text, re.IGNORECASE)
    assert "prefers-color-scheme:dark" in text


def test_two_runs_are_compared_by_ratios(record: Make) -> None:
    """Half the time is twice as good; of what should be much, half is half as good."""
    seen = words(page([record(gaps=(20.0, 20.0)), record(gaps=(10.0, 40.0))]))
    assert "p50: B is 2.00 × better" in seen
    assert "p95: B is 2.00 × worse" in seen
    seen = words(page([record(), record()]))
    assert "p50: the same" in seen


def test_a_target_is_told_in_words_and_not_by_colour_alone(record: Make) -> None:
    """Met and not met are written."""
    seen = words(page([record(gaps=(12.5, 200.0))]))
    assert "✓ met: p50 ≤ 20 ms" in seen
    assert "✗ not met: p95 ≤ 150 ms" in seen


def test_figures_without_a_like_stand_alone(record: Make) -> None:
    """A run with other figures is shown beside the first, and nothing is compared."""
    seen = words(page([record(group="1 session"), record(group="2 sessions")]))
    assert "1 session gap" in seen
    assert "2 sessions gap" in seen
    assert "B is" not in seen
