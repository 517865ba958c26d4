"""The engines of this machine: really started, proven with their real models, stopped."""

from __future__ import annotations

import os
import re
import select
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"


def children(pid: int) -> Iterator[int]:
    """Process ids of the children of ``pid``, and of theirs."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            yield child
            yield from children(child)


def lines_of_the_page() -> set[str]:
    """What the page's table of checks has."""
    table = PAGE.read_text("utf-8").split("## What is checked")[1].split("## Faults")[0]
    names = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return {name for row in names for name in re.findall("`(.+?)`", row)}


def test_the_small_profile_is_well(own: Any) -> None:
    """Four engines, each with one real inference; status 0. The page tells of every line that there is."""
    outcome = own()
    assert (outcome.status, outcome.faults, outcome.err) == (0, [], "")
    assert {"vad", "speech worker", "llama.cpp", "stt", "llm", "tts"} < {*outcome.well}
    assert {*outcome.well} == lines_of_the_page() - {"settings"}
    assert "own process: understood " in outcome.line("stt")
    assert "own process: first text after " in outcome.line("llm")
    assert " s of audio in " in outcome.line("tts")
    assert not (own.home / "data").exists()


def test_a_child_that_dies_and_a_voice_that_is_none(own: Any) -> None:
    """The last line of what died, once, and not again for its engine; the nearest voice; the rest goes on."""
    broken = own.home / "broken" / "xllamacpp.py"
    broken.parent.mkdir()
    broken.write_text("raise ImportError('libgomp.so.1: cannot open shared object file')\n")
    own.python_path.insert(0, str(broken.parent))
    outcome = own(tts_voice="af_hart")
    assert outcome.faults == [
        "llama.cpp: it exited with code 1: ImportError: libgomp.so.1: cannot open shared object file. "
        "Install relance anew with make setup.",
        "tts: expected status 200, got 400 (voice_not_found). "
        "Set RELANCE_TTS_VOICE to a voice of the model, such as 'af_heart'.",
    ]
    assert outcome.line("llm") == "-      llm: llama.cpp does not run"
    assert "stt" in outcome.well


def test_an_interruption_leaves_nothing_running(own: Any) -> None:
    """Ctrl-C while one engine runs and the other loads: status 130, and both are gone."""
    with own.start() as process, ExitStack() as stack:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any(line.startswith("ok     llama.cpp") for line in lines)
        found = {*children(process.pid)}
        assert len(found) == 2
        handles = [os.pidfd_open(pid) for pid in found]
        for handle in handles:
            stack.callback(os.close, handle)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert all(select.select([handle], [], [], 10)[0] for handle in handles)
