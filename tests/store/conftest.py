"""A database file of its own for each test."""

from pathlib import Path

import pytest


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Address of a SQLite file that is not there yet, in a directory that is not there either."""
    return f"sqlite+aiosqlite:///{tmp_path}/data/relance.sqlite3"
