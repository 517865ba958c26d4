"""The key that a token is checked with: a secret, or a key of a published set."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import httpx
import jwt

from server.auth.errors import AuthRequired

LIFETIME_S = 600
"""A fetched key set is used for ten minutes at most."""
UNKNOWN_KEY_PAUSE_S = 60
"""An unknown ``kid`` has the set fetched again once a minute at most: anyone can invent one."""
FAILURE_PAUSE_S = 5
"""After a fetch that failed, with no set to go on with, the next waits this long."""
FETCH_TIMEOUT_S = 5


class Keys(Protocol):
    """Finds the key for a token."""

    async def find(self, kid: object) -> Any:
        """Return the key named ``kid``, in the form that PyJWT takes. Raises :class:`AuthRequired`."""
        ...


class SharedSecret:
    """HS256: one secret, whatever ``kid`` says."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def find(self, kid: object) -> str:
        """See :meth:`Keys.find`."""
        return self._secret


class KeySet:
    """RS256 and ES256: a JSON Web Key Set at an address, cached.

    While its address does not answer, the cached keys go on until their time is over. ``clock`` gives monotonic
    seconds.
    """

    def __init__(
        self, url: str, algorithm: str, client: httpx.AsyncClient, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = url
        self._algorithm = algorithm
        self._client = client
        self._clock = clock
        self._keys: dict[str, jwt.PyJWK] = {}
        self._expires_at = self._next_fetch_at = float("-inf")
        self._fetching = asyncio.Lock()

    async def find(self, kid: object) -> jwt.PyJWK:
        """See :meth:`Keys.find`."""
        if not isinstance(kid, str):
            raise AuthRequired("the token names no key")
        if self._lacks(kid):  # those whose key is known do not wait for a fetch
            async with self._fetching:
                if self._lacks(kid) and self._clock() >= self._next_fetch_at:
                    await self._fetch()
        if self._lacks(kid):
            raise AuthRequired("the token's key is unknown, or the key set cannot be had")
        return self._keys[kid]

    def _lacks(self, kid: str) -> bool:
        return kid not in self._keys or self._clock() >= self._expires_at

    async def _fetch(self) -> None:
        """Replace the keys by those at the address; on failure keep them, and say when to ask again."""
        try:
            answer = await self._client.get(self._url, timeout=FETCH_TIMEOUT_S)
            answer.raise_for_status()
            keys = dict(self._usable(answer.json()))
        except (httpx.HTTPError, ValueError, RecursionError):
            now = self._clock()
            fresh = now < self._expires_at
            self._next_fetch_at = min(now + UNKNOWN_KEY_PAUSE_S, self._expires_at) if fresh else now + FAILURE_PAUSE_S
            return
        self._keys = keys
        self._expires_at = self._clock() + LIFETIME_S
        self._next_fetch_at = self._clock() + UNKNOWN_KEY_PAUSE_S

    def _usable(self, key_set: Any) -> Iterator[tuple[str, jwt.PyJWK]]:
        """The set's keys that may check a signature of the pinned algorithm; others are passed over."""
        entries = key_set.get("keys") if isinstance(key_set, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
                continue
            if entry.get("alg", self._algorithm) != self._algorithm or not isinstance(entry.get("kid"), str):
                continue
            try:
                yield entry["kid"], jwt.PyJWK(entry, algorithm=self._algorithm)
            except (jwt.PyJWTError, ValueError, TypeError):
                continue  # of another kind than the algorithm's, or broken: it checks nothing
