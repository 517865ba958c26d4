"""Which file holds the settings, and which variables name none."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

PREFIX = "RELANCE_"
CONFIG_VARIABLE = "RELANCE_CONFIG"
DEFAULT_FILE = "relance.toml"
OTHER_VARIABLES = (CONFIG_VARIABLE, "RELANCE_TOKEN")
"""Variables that are no settings: where the settings are, and the token that ``relance exam`` sends."""


class ConfigFileMissing(Exception):
    """``RELANCE_CONFIG`` names a file that is not there."""


def config_file() -> Path | None:
    """The TOML file: what ``RELANCE_CONFIG`` names, else ``./relance.toml`` if there is one.

    Raises :class:`ConfigFileMissing`.
    """
    if named := os.environ.get(CONFIG_VARIABLE):
        path = Path(named).expanduser()
        if not path.is_file():
            raise ConfigFileMissing(f"{CONFIG_VARIABLE}: no file at {path}")
        return path
    path = Path(DEFAULT_FILE)
    return path if path.is_file() else None


def unknown_variables(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """One line for each ``RELANCE_*`` variable that is no setting; ``known`` are the settings' names."""
    variables = [PREFIX + name.upper() for name in known] + [*OTHER_VARIABLES]
    for name in sorted(names):
        if name.upper().startswith(PREFIX) and name.upper() not in variables:
            yield f"{name}: unknown setting{nearest(name.upper(), variables)}"


def nearest(name: str, known: Iterable[str]) -> str:
    """``"; the nearest is …"``, or nothing when no known name is near."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; the nearest is {close[0]}" if close else ""
