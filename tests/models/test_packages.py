"""The real clients against the real registries, as a closed network has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engines.models import Artifact, Lock, Profile, Store, fetch
from engines.models.errors import SourceFailed
from engines.models.packages import download
from engines.models.sources import Build, Package


def test_the_voices_are_rebuilt_to_the_byte(lock: Lock, store: Store) -> None:
    """kokoro-js's voice files become the very file of kokoro-onnx's release: the pinned hash proves it."""
    pinned = lock.artifacts["kokoro-voices"]
    (file,) = pinned.files
    built = replace(file, sources=tuple(source for source in file.sources if isinstance(source, Build)))
    profile = Profile("voices", "tests", "fr", "", {"voices": Artifact("voices", "", "Apache-2.0", (built,))})
    fetch(profile, store)
    with np.load(store.path(profile, "voices")) as voices:
        assert len(voices.files) == 54
        assert voices["ff_siwis"].shape == (510, 1, 256)
        assert voices["ff_siwis"].dtype == np.float32


def test_the_ci_profile_is_in_the_store_with_every_hash_right(lock: Lock, models_dir: Path) -> None:
    """What the tests run on is what the lock pins: each file is read again."""
    store = Store(models_dir)
    for artifact, file in lock.profile("ci").files():
        store.rehash(artifact, file)


def test_the_human_voice_is_a_sound_file(two_cities: Path) -> None:
    """The recording of the exam tests is there, whole."""
    assert two_cities.read_bytes()[:4] == b"RIFF"


def test_a_version_that_is_not_there_is_said_in_the_clients_own_words(tmp_path: Path) -> None:
    """pip's last error line is passed on, in one line."""
    with pytest.raises(SourceFailed) as caught:
        download(Package("pypi", "silero-vad", "0.0.0"), tmp_path / "work")
    assert "pypi:silero-vad 0.0.0: pip failed: ERROR: No matching distribution" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_is_left_of_a_client_but_the_package(tmp_path: Path) -> None:
    """pip's temporary files and caches stay in the work directory."""
    archive = download(Package("pypi", "iniconfig", "2.3.0"), tmp_path / "work")
    assert list((tmp_path / "work").iterdir()) == [archive]
