"""What an engine is made of: the settings of one backend, checked by the style that takes them."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import msgspec

from engines.errors import EngineMisconfigured
from engines.http import Target, open_client
from engines.protocols import Language

Kind = Literal["stt", "llm", "tts"]

OptionsT = TypeVar("OptionsT", bound=msgspec.Struct)


class NoOptions(msgspec.Struct, frozen=True):
    """For a style that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """One backend as the settings name it. ``name`` is the beginning of its settings' names, for messages.

    ``options`` are the style's own; ``default_voice`` is the profile's, for styles that have Kokoro's voices.
    """

    kind: Kind
    name: str
    language: Language
    url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    voice: str | None = None
    default_voice: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @asynccontextmanager
    async def target(self, *, needs_model: bool = True, keep_alive: bool = True) -> AsyncIterator[Target]:
        """Give the target at ``url``, its connections open for the block.

        Raises :class:`engines.errors.EngineMisconfigured` where the address, or a model that is needed, is missing.
        """
        url = self.required("url")
        model = self.required("model") if needs_model else self.model or ""
        async with open_client(url, keep_alive=keep_alive) as client:
            yield Target(client, url, model, self.api_key)

    def required(self, setting: str) -> str:
        """Return ``url``, ``model`` or ``voice``; raises :class:`engines.errors.EngineMisconfigured` without it."""
        value: str | None = getattr(self, setting)
        if not value:
            raise EngineMisconfigured(self.kind, f"this style needs {self.name}_{setting}, and there is none")
        return value

    def read_options(self, into: type[OptionsT]) -> OptionsT:
        """Return the options as a struct; raises :class:`engines.errors.EngineMisconfigured` for a wrong one."""
        known = into.__struct_fields__
        for name in self.options:
            if name not in known:
                message = f"{self.name}_options: unknown option {name!r}{nearest(name, known)}"
                raise EngineMisconfigured(self.kind, message)
        try:
            return msgspec.convert(dict(self.options), into)
        except msgspec.ValidationError as error:
            raise EngineMisconfigured(self.kind, f"{self.name}_options: {error}") from error


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``"; the nearest is …"``, else ``"; there are …"``, or that there is none: the end of an error's line."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"; the nearest is {close[0]!r}"
    return f"; there are {', '.join(names)}" if names else "; there is none"
