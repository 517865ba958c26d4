"""Children that are small scripts, and probes that answer as told."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engines.local import LlamaSpec
from engines.models import Lock, Store
from engines.supervision import RestartPolicy

QUICK = RestartPolicy(first_wait_s=0.05, max_wait_s=0.2, max_starts=3, start_timeout_s=10, grace_s=0.5)


@pytest.fixture
def quick() -> RestartPolicy:
    """Short waits."""
    return QUICK


@pytest.fixture
def script() -> Callable[[str], Callable[[int], Sequence[str]]]:
    """Makes a command of a Python script; ``PORT`` in it is the port."""

    def make(code: str) -> Callable[[int], Sequence[str]]:
        return lambda port: (sys.executable, "-c", code.replace("PORT", str(port)))

    return make


@pytest.fixture(scope="session")
def smollm(lock: Lock, models_dir: Path) -> LlamaSpec:
    """The smallest real model, which starts in a second."""
    return LlamaSpec(Store(models_dir).path(lock.profile("ci"), "llm"), name="smollm2", ctx=1024)
