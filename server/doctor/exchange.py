"""What passed between an engine and its server, as far as it helps to say what is wrong; and which models it has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from typing import Final

import httpx
import msgspec

from engines.errors import EngineError
from engines.http import Target, bearer, open_client
from engines.setup import Setup

LOOK_S: Final = 5.0
MAX_LIST_BYTES: Final = 4 << 20


@dataclass(slots=True)
class Notes:
    """The head of the last answer: its status and type; ``None`` and nothing while there was none."""

    status: int | None = None
    content_type: str = ""

    async def take(self, response: httpx.Response) -> None:
        """Note an answer; httpx calls this with each."""
        self.status = response.status_code
        self.content_type = response.headers.get("content-type", "")

    @property
    def is_page(self) -> bool:
        """Whether the answer was one for people."""
        return self.content_type.startswith("text/html")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedSetup(Setup):
    """A setup whose requests leave :class:`Notes`, where its style asks by the connections that it is given."""

    notes: Notes = field(default_factory=Notes)

    @asynccontextmanager
    async def target(self, *, needs_model: bool = True, keep_alive: bool = True) -> AsyncIterator[Target]:
        """See :meth:`engines.setup.Setup.target`."""
        async with Setup.target(self, needs_model=needs_model, keep_alive=keep_alive) as target:
            target.client.event_hooks = {"response": [self.notes.take]}
            yield target


def noted(setup: Setup) -> NotedSetup:
    """Return ``setup`` with notes."""
    return NotedSetup(**{each.name: getattr(setup, each.name) for each in fields(Setup)})


class _Model(msgspec.Struct, frozen=True):
    id: str


class _Models(msgspec.Struct, frozen=True):
    data: list[_Model]


async def models_at(base: str, api_key: str | None) -> tuple[str, ...] | None:
    """Return the names of the models that an OpenAI-shaped server lists at ``base``; ``None`` when it lists none."""
    headers = {"Accept-Encoding": "identity", **(bearer(api_key) if api_key else {})}
    try:
        async with (
            asyncio.timeout(LOOK_S),
            open_client(base) as client,
            client.stream("GET", f"{base.rstrip('/')}/models", headers=headers) as response,
        ):
            body = await _bounded(response)
        return tuple(model.id for model in msgspec.json.decode(body, type=_Models).data)
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, EngineError, msgspec.DecodeError, UnicodeError):
        return None


async def _bounded(response: httpx.Response) -> bytes:
    """Return the body of a success that is no longer than any list of models; else nothing, which is no list."""
    body = b""
    if response.is_success:
        async for part in response.aiter_raw():
            body += part
            if len(body) > MAX_LIST_BYTES:
                return b""
    return body
