"""Types of settings that more than one part has."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import AfterValidator, Field


def _http_url(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise ValueError("expected an address that begins with http:// or https://")
    return value.rstrip("/")


def json_object(value: object) -> object:
    """Return what a variable holds as JSON; what comes from a TOML file is an object already."""
    return json.loads(value) if isinstance(value, str) else value


Url = Annotated[str, AfterValidator(_http_url)]
Count = Annotated[int, Field(ge=1)]
