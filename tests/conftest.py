"""What the tests of every part share: the pinned models and a recording of a human voice."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.models import Artifact, Lock, ModelFile, Profile, Store, fetch, load_lock
from engines.models import sources as model_sources

TWO_CITIES = ModelFile(
    path="two_cities.wav",
    size_bytes=4260326,
    sha256="f3348494d77cb74a02862f5e685ed09faf3e75832c5cc5c80703282c2cd8b52e",
    sources=(model_sources.parse("pypi:moonshine-voice==0.1.5/moonshine_voice/assets/two_cities.wav", {}),),
)
"""The opening of A Tale of Two Cities read by a person, 44.4 s at 48 kHz, mono."""


@pytest.fixture(scope="session")
def lock() -> Lock:
    """The project's own lock file."""
    return load_lock()


@pytest.fixture(scope="session")
def models_dir(lock: Lock) -> Path:
    """The model store of this machine, with the profile ci in it."""
    store = Store()
    fetch(lock.profile("ci"), store)
    return store.root


@pytest.fixture(scope="session")
def two_cities() -> Path:
    """A WAV of human speech, kept beside the model store between runs."""
    speech = Artifact("two-cities", "Human speech for the tests", "MIT", (TWO_CITIES,))
    recordings = Profile("recordings", "tests", "en", "", {"stt": speech})
    store = Store(Store().root.with_name("recordings"))
    fetch(recordings, store)
    return store.path(recordings, "stt")
