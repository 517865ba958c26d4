"""What all HTTP adapters share: where to send, with which key, and how a request is opened and judged."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from engines.deadline import Deadline
from engines.errors import EngineMisconfigured, EngineRefused
from engines.http_errors import engine_error, named_faults

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Longest body that is read of any answer: eleven minutes of the voice. Whoever sends more is not an engine."""

KEEPALIVE_S = 4.0
"""How long an idle connection is kept: less than uvicorn's 5 s, so that we are not the one to find it closed."""


def bearer(api_key: str) -> Mapping[str, str]:
    """Return the header of a bearer token."""
    return {"Authorization": f"Bearer {api_key}"}


@dataclass(frozen=True, slots=True)
class Target:
    """One model at one address.

    ``client`` is shared and closed by whoever made it (:func:`open_client`); ``base`` is the address up to the style's
    own paths (``/v1``, ``/v1beta``), without a query; ``api_key`` is sent where there is one, in the ``key_headers``
    of the style, and never shown; ``connect_s`` bounds making the connection.
    """

    client: httpx.AsyncClient = field(repr=False)
    base: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    connect_s: float = 5.0
    key_headers: Callable[[str], Mapping[str, str]] = bearer

    @asynccontextmanager
    async def post(
        self, engine: str, path: str, deadline: Deadline, limit_s: float, **content: Any
    ) -> AsyncIterator[httpx.Response]:
        """Send ``content`` (httpx's ``json``, ``data``, ``files``) to ``path``; give the answer, its body unread.

        Its head must come within ``limit_s`` seconds. Leaving the block closes the request. Faults, and any status but
        2xx, are raised as :class:`engines.errors.EngineError` with the body of the error read.
        """
        with named_faults(engine):
            request = self._request(path, content)
            async with deadline.within(limit_s):
                response = await self.client.send(request, stream=True)
            response.stream = _Bounded(engine, response.stream)
            try:
                _refuse_compressed(engine, response)
                if not response.is_success:
                    async with deadline.within(limit_s):
                        await response.aread()
                    raise engine_error(engine, response)
                yield response
            finally:
                await response.aclose()

    def _request(self, path: str, content: Mapping[str, Any]) -> httpx.Request:
        headers = {"Accept-Encoding": "identity", **(self.key_headers(self.api_key) if self.api_key else {})}
        timeout = httpx.Timeout(None, connect=self.connect_s)
        url = f"{self.base.rstrip('/')}/{path}"
        return self.client.build_request("POST", url, headers=headers, timeout=timeout, **content)


class _Bounded(httpx.AsyncByteStream):
    """A body that breaks off with an error where it gets longer than any answer is."""

    def __init__(self, engine: str, body: object) -> None:
        assert isinstance(body, httpx.AsyncByteStream)  # noqa: S101 - an async client gives no other
        self._engine = engine
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for part in self._body:
            length += len(part)
            if length > MAX_ANSWER_BYTES:
                raise EngineRefused(self._engine, f"expected at most {MAX_ANSWER_BYTES} bytes, the answer goes on")
            yield part

    async def aclose(self) -> None:
        await self._body.aclose()


def _refuse_compressed(engine: str, response: httpx.Response) -> None:
    encoding = response.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise EngineRefused(engine, "expected an answer as it is, asked for so, got a compressed one")


def open_client(base: str, *, uds: str | None = None, keep_alive: bool = True) -> httpx.AsyncClient:
    """Return a client for engines at ``base``, to be closed by the caller; ``uds`` is a Unix socket's path, if any.

    Without ``keep_alive`` each request has a connection of its own: llama.cpp closes it after a streamed answer, though
    it announces to keep it, and the request that is sent at once on it fails.

    Proxies of the environment are used for remote addresses only. Raises :class:`engines.errors.EngineMisconfigured`
    when ``base`` is no http or https address.
    """
    limits = httpx.Limits(
        max_connections=None, max_keepalive_connections=None if keep_alive else 0, keepalive_expiry=KEEPALIVE_S
    )
    transport = httpx.AsyncHTTPTransport(uds=uds, limits=limits) if uds else None
    return httpx.AsyncClient(limits=limits, transport=transport, trust_env=not _is_local(base), follow_redirects=False)


def _is_local(base: str) -> bool:
    try:
        url = httpx.URL(base)
    except httpx.InvalidURL as error:
        raise EngineMisconfigured("http", "expected an http or https address, got something else") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise EngineMisconfigured("http", f"expected an http or https address, got scheme {url.scheme!r}")
    try:
        return ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return url.host == "localhost"
