"""The cores that may be used: by affinity, by the control group."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.cores import quota, usable


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Control groups: a service in a slice, and the file that says which one we are in."""
    (tmp_path / "cgroups/system.slice/relance.service").mkdir(parents=True)
    (tmp_path / "membership").write_text("1:cpu:/old\n0::/system.slice/relance.service\n")
    return tmp_path


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, None),
        ({"": "max 100000"}, None),
        ({"system.slice/relance.service": "150000 100000"}, 1.5),
        ({"system.slice": "400000 100000", "system.slice/relance.service": "max 100000"}, 4.0),
        ({"system.slice": "50000 100000", "system.slice/relance.service": "200000 100000"}, 0.5),
        ({"system.slice/relance.service": "what is this"}, None),
    ],
)
def test_the_least_limit_of_the_groups_we_are_in_holds(
    tree: Path, limits: dict[str, str], expected: float | None
) -> None:
    """A group's limit holds for those inside; without a file, or with one that says max, there is none."""
    for group, limit in limits.items():
        (tree / "cgroups" / group / "cpu.max").write_text(limit)
    assert quota(tree / "cgroups", tree / "membership") == expected


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    """As on a system that has none."""
    assert quota(tmp_path / "none", tmp_path / "none") is None


def test_a_process_bound_to_one_core_uses_one() -> None:
    """Affinity counts, not the host's cores; the settings' default threads follow."""
    core = min(os.sched_getaffinity(0))
    program = (
        f"import os; os.sched_setaffinity(0, {{{core}}}); from server.cores import usable; "
        "from server.settings import load; print(usable(), load().llm_threads)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["1", "1"]
    assert 1 <= usable() <= len(os.sched_getaffinity(0))
