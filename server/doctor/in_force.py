"""The settings that were given, where each came from, and what of them may be shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from pydantic import SecretStr

from server.settings import Settings
from server.settings.sources import PREFIX, config_file

LEAST_SECRET_CHARS = 4
"""A shorter secret is not looked for in what is printed: it would blank parts of common words."""


class Given(msgspec.Struct, frozen=True):
    """A setting that is not left to its default: its value as it may be shown, and the variable or file it is from."""

    name: str
    value: str
    origin: str


def in_force(settings: Settings) -> list[Given]:
    """Return every setting that was given, in the order of their declaration."""
    return [
        Given(name, shown(name, getattr(settings, name)), origin(name))
        for name in type(settings).model_fields
        if name in settings.model_fields_set
    ]


def origin(name: str) -> str:
    """Return where a setting that was given came from: ``RELANCE_PORT``, or the file's path."""
    variable = PREFIX + name.upper()
    if any(known.upper() == variable and value for known, value in os.environ.items()):
        return variable
    return str(config_file() or "default")


def place(name: str) -> str:
    """Return where a setting is to be corrected or set: where it is now, else its variable."""
    found = origin(name)
    return PREFIX + name.upper() if found in ("default", PREFIX + name.upper()) else f"{name} in {found}"


def shown(name: str, value: object) -> str:
    """Return a setting's value without secrets: a key is ``set``, an address bare, of options the names alone."""
    if isinstance(value, SecretStr):
        return "set"
    if name.endswith("_url"):
        return bare(str(value))
    if name.endswith("_options"):
        return f"set ({', '.join(value)})" if isinstance(value, dict) else "set"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)


def bare(address: str) -> str:
    """Return an address without user, password, query and fragment."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def secrets(settings: Settings) -> frozenset[str]:
    """Return every text of the settings that must not be printed, whoever quotes it."""
    found: set[str] = set()
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            found.add(value.get_secret_value())
        elif name.endswith("_url") and value:
            found.update(_secrets_in(str(value)))
    return frozenset(secret for secret in found if len(secret) >= LEAST_SECRET_CHARS)


def _secrets_in(address: str) -> Iterator[str]:
    parts = urlsplit(address)
    for text in parts.netloc.rpartition("@")[0].split(":"):
        yield from (text, unquote(text))
    yield parts.query
    for _, value in parse_qsl(parts.query):
        yield value
