"""Reads the settings, and turns whatever is wrong with them into one line per fault."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from server.settings.model import Settings
from server.settings.sources import PREFIX, ConfigFileMissing, config_file, nearest, unknown_variables


class SettingsError(Exception):
    """The settings cannot be used; ``faults`` has one line for each thing that is wrong. No secret is in them."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def load(**given: object) -> Settings:
    """Read the settings: defaults, the TOML file, ``RELANCE_*`` variables, and last what is ``given`` by name.

    ``None`` in ``given`` means not given. Raises :class:`SettingsError` with every fault found.
    """
    faults = list(unknown_variables(os.environ, Settings.model_fields))
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except (ConfigFileMissing, OSError) as error:
        faults.append(str(error))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        faults.append(f"{config_file()}: not TOML: {error}")
    except ValidationError as error:
        faults.extend(line for detail in error.errors(include_url=False) for line in _lines(detail))
    if faults:
        raise SettingsError(faults)
    return settings


def _lines(detail: ErrorDetails) -> Iterator[str]:
    """One pydantic error as lines: ``origin: expected …, got …``."""
    if detail["type"] == "default_factory_not_called":
        return  # follows from another field's fault, which has its own line
    if not detail["loc"]:
        yield from str(detail["ctx"]["error"]).splitlines()
        return
    name = str(detail["loc"][0])
    if detail["type"] == "extra_forbidden":
        yield f"{name} in {config_file()}: unknown setting{nearest(name, Settings.model_fields)}"
        return
    message = detail["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    shown = "" if _confidential(name) else f", got {detail['input']!r}"
    yield f"{_origin(name)}: {message[0].lower()}{message[1:]}{shown}"


def _origin(name: str) -> str:
    """Where a setting's value came from, as its reader would look for it."""
    variable = PREFIX + name.upper()
    if variable in (known.upper() for known in os.environ):
        return variable
    path = config_file()
    return f"{name} in {path}" if path else name


def _confidential(name: str) -> bool:
    """Whether a setting's value may hold a secret: keys do, addresses and options may."""
    return name.endswith(("_url", "_options")) or SecretStr in getattr(
        Settings.model_fields[name].annotation, "__args__", ()
    )
