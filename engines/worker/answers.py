"""Sending what a lane makes, and stopping it when the caller has gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from engines.worker.problems import Problem

T = TypeVar("T")


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Await ``work``, or cancel it when the caller hangs up (then :class:`ClientDisconnect` is raised).

    For answers that are sent whole; the body of ``request`` must have been read.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def collected(steps: AsyncGenerator[T, None]) -> list[T]:
    """Return all that ``steps`` yields; closes it when cancelled."""
    async with aclosing(steps):
        return [step async for step in steps]


class Streamed(StreamingResponse):
    """A streamed answer whose parts are closed when it ends, also by a failure to send one."""

    def __init__(self, parts: AsyncGenerator[bytes, None], media_type: str) -> None:
        super().__init__(parts, media_type=media_type)
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        async with aclosing(self._parts):
            await super().__call__(scope, receive, send)


async def streamed(request: Request, parts: AsyncGenerator[bytes, None], media_type: str) -> Streamed:
    """Return a response that sends ``parts`` as they are made, and closes them when the caller hangs up.

    The first part is awaited here: a failure before it is still an answer with a status of its own.
    """
    try:
        first = await unless_gone(request, _first(parts))
    except BaseException:
        await parts.aclose()
        raise
    return Streamed(_rest(first, parts), media_type)


async def _first(parts: AsyncGenerator[bytes, None]) -> bytes:
    return await anext(parts, b"")


async def _rest(first: bytes, parts: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(parts):
        yield first
        async for part in parts:
            yield part


def event(data: object) -> bytes:
    """Return ``data`` as one server-sent event of JSON."""
    return b"data: " + msgspec.json.encode(data) + b"\n\n"


async def with_errors_told(events: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield ``events``; a :class:`Problem` after the first of them becomes a last event of type ``error``."""
    begun = False
    async with aclosing(events):
        try:
            async for part in events:
                yield part
                begun = True
        except Problem as problem:
            if not begun:
                raise
            yield event({"type": "error", **problem.body()})
