"""Two real workers, one a language; the modules beside this file make sounds and listen."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engines.models import Lock, Store

ROLES = ("stt", "tts", "voices", "vad")


def _beside(name: str) -> ModuleType:
    """Return the module ``name`` of this directory, which is no package."""
    spec = importlib.util.spec_from_file_location(f"tests_inventions_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_SOUNDS = _beside("sounds")
_LISTENING = _beside("listening")
UTTERANCES = _beside("utterances")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each utterance its test: its language, its text, its number."""
    if "utterance" in metafunc.fixturenames:
        both = (("fr", UTTERANCES.FRENCH), ("en", UTTERANCES.ENGLISH))
        all_of_them = [(language, text, number) for language, texts in both for number, text in enumerate(texts)]
        metafunc.parametrize("utterance", all_of_them, ids=lambda each: f"{each[0]}-{each[1]}")
    if "by_a_person" in metafunc.fixturenames:
        metafunc.parametrize("by_a_person", UTTERANCES.BY_A_PERSON, ids=lambda each: each[0])


@pytest.fixture(scope="session")
def sounds() -> ModuleType:
    """What a microphone hears when nobody speaks."""
    return _SOUNDS


@pytest.fixture(scope="session")
def utterances() -> ModuleType:
    """What is said, and by whom."""
    return UTTERANCES


@pytest.fixture(scope="module")
def listening(lock: Lock, request: pytest.FixtureRequest) -> Iterator[Callable[[str], Any]]:
    """``listening("fr")``, ``listening("en")``: the worker of that language, started when it is first asked for."""
    workers: dict[str, Any] = {}
    with ExitStack() as running:

        def start(language: str) -> Any:
            if language not in workers:
                french = language == "fr"
                profile = lock.profile("fr" if french else "ci")
                store = request.getfixturevalue("french_speech_models") if french else _of_ci(request)
                models = {role: store.path(profile, role) for role in ROLES}
                voice = "ff_siwis" if french else "af_heart"
                workers[language] = running.enter_context(_LISTENING.listening(language, models, voice))
            return workers[language]

        yield start


def _of_ci(request: pytest.FixtureRequest) -> Store:
    return Store(request.getfixturevalue("models_dir"))
