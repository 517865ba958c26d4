"""The addresses of one exam server: ``ws://host:port`` as the user gives it, and what is derived from it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit, urlunsplit

from server.client.errors import WrongAddress

_WEB_SCHEMES = {"ws": "http", "wss": "https", "http": "http", "https": "https"}
_SOCKET_SCHEMES = {"http": "ws", "https": "wss"}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """An exam server. ``web`` is its HTTP address, without a slash at the end. Made by :func:`read_address`."""

    web: str

    def exam(self, task: str, query: Mapping[str, str]) -> str:
        """Return the WebSocket URL of ``task``, ``t1`` or ``t2``, with ``query``."""
        parts = urlsplit(self.web)
        path = f"{parts.path}/{task}/live"
        return urlunsplit((_SOCKET_SCHEMES[parts.scheme], parts.netloc, path, urlencode(query), ""))

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine: then no proxy stands before it."""
        host = urlsplit(self.web).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


def read_address(url: str) -> ServerAddress:
    """Return the server that ``url`` (``ws``, ``wss``, ``http`` or ``https``) names. Raises :class:`WrongAddress`."""
    expected = f"expected a server as ws://HOST:PORT or wss://HOST, got {url!r}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as fault:
        raise WrongAddress(f"{expected}: {fault}") from fault
    if parts.scheme not in _WEB_SCHEMES or not parts.hostname or port == 0 or parts.query or parts.fragment:
        raise WrongAddress(expected)
    return ServerAddress(urlunsplit((_WEB_SCHEMES[parts.scheme], parts.netloc, parts.path.rstrip("/"), "", "")))
