"""Exams on a hand-driven stage."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from server.exam.interview import Interview
from server.exam.prompts_t2 import Subject
from server.exam.roleplay import Roleplay
from server.exam.rules import InterviewRules, RoleplayRules

SUBJECT = Subject("agent d'une agence de voyages", "Une cliente veut partir une semaine en Bretagne.")


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"exam_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_stage = _load("stage")


@pytest.fixture(scope="session")
def stage() -> ModuleType:
    """The module ``stage`` beside this file."""
    return _stage


@pytest.fixture(scope="session")
def interview() -> Callable[..., Any]:
    """Begin a task 1 whose relances come at the given seconds; keywords are rules."""

    def begin(*at_s: float, language: str = "fr", start: bool = True, **rules: Any) -> Any:
        return _stage.Stage(interview_at(*at_s, language=language, **rules), start=start)

    return begin


@pytest.fixture(scope="session")
def roleplay() -> Callable[..., Any]:
    """Begin a task 2, without speculations unless they are asked for; keywords are rules."""

    def begin(
        language: str = "fr", *, start: bool = True, has_room: Callable[[], bool] = lambda: True, **rules: Any
    ) -> Any:
        chosen = RoleplayRules(**{"speculations": 0, **rules})
        exam = Roleplay(chosen, language, SUBJECT, _stage.Everything, has_room)
        return _stage.Stage(exam, start=start)

    return begin


def interview_at(*at_s: float, language: str = "fr", **rules: Any) -> Interview:
    """A task 1 whose window leaves the draw no choice: none, one or two relances, at the given seconds."""
    chances = [float(count == len(at_s)) for count in range(3)]
    window = [int(moment * 1000) for moment in (*at_s, *at_s[-1:])][: 2 if at_s else 0] or [25_000, 75_000]
    spacing = window[1] - window[0] if len(at_s) == 2 else 20_000
    fixed = {
        "relance_lead_ms": 8_000,
        "interruption_p0": chances[0],
        "interruption_p1": chances[1],
        "interruption_p2": chances[2],
        "interruption_window_start_ms": window[0],
        "interruption_window_end_ms": window[1],
        "interruption_min_spacing_ms": spacing,
    }
    return Interview(InterviewRules(**{**fixed, **rules}), language, random.Random(7), _stage.Everything)
