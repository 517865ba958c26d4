"""The rebuilt Kokoro: the bytes that are pinned, the same voice, and never without need or where it would be wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engines.models import Lock, Store
from engines.worker.cpu import cpu_flags
from engines.worker.rebuilt.kept import FAST_INTEGERS, REBUILT_SHA256, SOURCE_SHA256, fastest

VNNI = frozenset({"avx2", "avx512_vnni"})
NAME = f"kokoro-{REBUILT_SHA256}.onnx"

COMPARE = """
import json, sys
import numpy as np
from kokoro_onnx import Kokoro
from engines.worker.onnx import session
pinned, rebuilt, voices = sys.argv[1:]
told = []
for text, voice, lang in (
    ("Le prochain bus part dans vingt minutes.", "ff_siwis", "fr-fr"),
    ("We open at nine, and the museum is closed on Mondays.", "af_heart", "en-us"),
):
    before, after = [
        Kokoro.from_session(session(path, 2), voices).create(text, voice, lang=lang, trim=False)[0]
        for path in (pinned, rebuilt)
    ]
    level = [20 * float(np.log10(np.sqrt(np.mean(np.square(audio))))) for audio in (before, after)]
    alike = float(np.corrcoef(before, after)[0, 1]) if len(before) == len(after) else 0.0
    told.append({"samples": [len(before), len(after)], "level_db": level, "alike": alike})
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def pinned(lock: Lock, models_dir: Path) -> Path:
    """The pinned file."""
    return Store(models_dir).path(lock.profile("ci"), "tts")


@pytest.fixture(scope="module")
def rebuilt(pinned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the recipe makes of it."""
    return fastest(pinned, tmp_path_factory.mktemp("rebuilt"), VNNI)


def test_the_recipe_makes_the_bytes_that_are_known(lock: Lock, rebuilt: Path) -> None:
    """From the file of ``models.lock``, whose hash the recipe names, to the file whose hash is in its own name."""
    (file,) = lock.profile("ci").artifacts["tts"].files
    assert file.sha256 == SOURCE_SHA256
    assert rebuilt.name == NAME
    assert [path.name for path in rebuilt.parent.iterdir()] == [NAME], "nothing is left of the making"


def test_the_voice_is_the_same(pinned: Path, rebuilt: Path, lock: Lock, models_dir: Path) -> None:
    """As long, as loud, and the same wave but for the rounding. In a process of its own: GPL."""
    voices = Store(models_dir).path(lock.profile("ci"), "voices")
    run_here = fastest(pinned, rebuilt.parent)
    assert run_here == (rebuilt if FAST_INTEGERS & cpu_flags() else pinned)
    command = [sys.executable, "-c", COMPARE, str(pinned), str(run_here), str(voices)]
    for told in json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout):
        before, after = told["samples"]
        assert before == after
        assert abs(told["level_db"][1] - told["level_db"][0]) < 0.2
        assert told["alike"] > 0.8


def test_it_is_made_once_and_again_when_it_is_not_whole(pinned: Path, rebuilt: Path) -> None:
    """A file of the right name and the wrong bytes is never loaded."""
    made = rebuilt.stat().st_mtime_ns
    assert fastest(pinned, rebuilt.parent, VNNI) == rebuilt
    assert rebuilt.stat().st_mtime_ns == made
    with rebuilt.open("r+b") as file:
        file.truncate(1_000)
    assert fastest(pinned, rebuilt.parent, VNNI) == rebuilt
    assert rebuilt.stat().st_size > 90_000_000


@pytest.mark.parametrize(("flags", "kept"), [(frozenset({"avx2"}), True), (frozenset(), True), (VNNI, False)], ids=str)
def test_the_pinned_file_is_run_where_the_other_would_be_wrong_or_is_not_wanted(
    pinned: Path, tmp_path: Path, flags: frozenset[str], kept: bool
) -> None:
    """On a CPU without VNNI the sums may overflow; without a place nothing is made."""
    assert fastest(pinned, tmp_path if kept else None, flags) == pinned
    assert list(tmp_path.iterdir()) == []


def test_another_model_is_left_alone(tmp_path: Path) -> None:
    """The recipe is for one file."""
    other = tmp_path / "other.onnx"
    other.write_bytes(b"another model")
    assert fastest(other, tmp_path / "kept", VNNI) == other


def test_what_cannot_be_made_is_told_and_the_pinned_file_is_run(
    pinned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A place that takes no file, as in a store that is read-only."""
    (tmp_path / "kept").write_text("a file where the directory should be")
    assert fastest(pinned, tmp_path / "kept", VNNI) == pinned
    assert "kokoro_not_rebuilt" in capsys.readouterr().out


def test_another_graph_is_refused(tmp_path: Path) -> None:
    """The recipe says what it did not find, and writes nothing."""
    import onnx
    from onnx import TensorProto, helper

    from engines.worker.rebuilt.recipe import rebuild

    value: Any = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Sin", ["x"], ["y"])], "g", [value], [value])
    onnx.save(helper.make_model(graph), tmp_path / "small.onnx")
    with pytest.raises(ValueError, match="expected a Kokoro with"):
        rebuild(tmp_path / "small.onnx", tmp_path / "out.onnx")
    assert not (tmp_path / "out.onnx").exists()
