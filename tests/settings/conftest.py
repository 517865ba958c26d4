"""An environment without any of the developer's own settings."""

import contextlib
import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path

import pytest


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[MutableMapping[str, str]]:
    """The process's variables, without ``RELANCE_*``, in an empty directory; put back afterwards."""
    before = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("RELANCE_", "XDG_")):
            del os.environ[name]
    with contextlib.chdir(tmp_path):
        yield os.environ
    os.environ.clear()
    os.environ.update(before)
