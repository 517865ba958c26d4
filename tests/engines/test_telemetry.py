"""onnxruntime's telemetry stays off in every process of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.models import Lock, Store

ROOT = Path(__file__).parents[2]
LOAD = """
import sys
{first}
import onnxruntime
onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
"""


def left_behind(home: Path, model: Path, first: str) -> list[Path]:
    """Load a model in a process of its own; return the files that this made in an empty home."""
    env = {name: value for name, value in os.environ.items() if name not in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")}
    env |= {"HOME": str(home), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", LOAD.format(first=first), str(model)], env=env, check=True, timeout=60)
    return [path for path in home.rglob("*") if path.is_file()]


@pytest.mark.parametrize("first", ["import engines", "import engines.silero", "import engines.worker.__main__"])
def test_loading_a_model_leaves_nothing_in_the_users_cache(
    tmp_path: Path, lock: Lock, models_dir: Path, first: str
) -> None:
    """Neither a device id nor a database of events; so there is nothing to be sent."""
    vad = Store(models_dir).path(lock.profile("ci"), "vad")
    assert left_behind(tmp_path, vad, first) == []
