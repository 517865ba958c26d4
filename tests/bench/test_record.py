"""Records: there and back, and what is told of a file that is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bench.machine import PACKAGES, this_machine
from server.bench.record import BenchError, Figure, Record, Target, read, write
from server.bench.targets import met

Make = Callable[..., Record]


def test_a_record_comes_back_as_it_was_written(record: Make, tmp_path: Path) -> None:
    """Every sample, mark, stage, target and setting survives the file."""
    path = tmp_path / "run.json"
    write(record(), path)
    assert read(path) == record()


def test_the_file_names_what_it_holds(record: Make, tmp_path: Path) -> None:
    """It can be read without this program: version, machine, settings, samples."""
    write(record(), tmp_path / "run.json")
    content = json.loads((tmp_path / "run.json").read_text())
    assert content["version"] == 1
    assert content["machine"]["cores"] == 2
    assert content["settings"]["t2_silence_ms"] == 2000
    assert content["figures"][0]["samples"] == [12.5, 31.25]
    assert content["turns"][1]["faults"] == ["no answer <here>"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[1, 2]", "no record of the bench"),
        (b"{}", "no record of the bench"),
        (b'{"version": 1}', "no record of the bench"),
        (b'{"version": 2, "anything": true}', "is of version 2, this program reads up to 1"),
    ],
)
def test_a_file_that_is_no_record_is_told(content: bytes, told: str, tmp_path: Path) -> None:
    """One line that names the file and what is wrong with it."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(BenchError, match=told) as raised:
        read(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """So is a directory in its place."""
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(BenchError, match="cannot read"):
            read(path)


@given(st.lists(st.floats(0, 1000), min_size=1), st.floats(0, 1000))
def test_a_bound_on_the_largest_is_a_bound_on_all(samples: list[float], limit: float) -> None:
    """``max ≤`` holds when every sample keeps it; ``at_least`` of the largest when any does."""
    most, least = Target(1, limit), Target(1, limit, "at_least")
    figure = Figure("x", "ms", "engine", tuple(samples), (most, least))
    assert met(figure, most) == all(sample <= limit for sample in samples)
    assert met(figure, least) == any(sample >= limit for sample in samples)


def test_nothing_was_met_where_nothing_was_measured() -> None:
    """A target without samples is neither met nor missed."""
    assert met(Figure("x", "ms", "engine"), Target(0.5, 1)) is None


def test_the_machine_is_told() -> None:
    """What figures depend on: processor, cores, memory, versions of every library that infers."""
    machine = this_machine()
    assert machine.cpu
    assert machine.cores >= 1
    assert machine.memory_mb > 100
    assert set(machine.packages) == set(PACKAGES)
    assert "not installed" not in machine.packages.values()
