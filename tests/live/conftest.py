"""The live shell's tests run in virtual time, over fakes at its boundary; the modules beside this file hold both."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _beside(name: str) -> ModuleType:
    """Return the module ``name`` of this directory, which is no package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"tests_live_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_VIRTUAL_TIME = _beside("virtual_time")
_FAKES = _beside("fakes")
_CANDIDATE = _beside("candidate")
_EXAM_ROOM = _beside("exam_room")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in virtual time."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    _VIRTUAL_TIME.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine in virtual time, where the test itself cannot be one (property tests)."""
    return _VIRTUAL_TIME.run


@pytest.fixture(scope="session")
def fakes() -> ModuleType:
    """The fakes of engines, store and evaluation."""
    return _FAKES


@pytest.fixture(scope="session")
def client() -> ModuleType:
    """The client in memory."""
    return _CANDIDATE


@pytest.fixture(scope="session")
def rooms() -> Any:
    """Make exam rooms: ``rooms.roleplay(*answers)``, ``rooms.interview(*answers, relances_s=(30,))``."""
    return _EXAM_ROOM.Rooms(_FAKES, _CANDIDATE)
