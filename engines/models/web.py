"""Files behind HTTPS: Hugging Face repositories and GitHub releases.

A host that cannot be reached is asked once a run: closed networks are common, and waiting for the same refusal at each
file would take minutes. A broken transfer goes on where it stopped, also in a later run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import httpx

from engines.models.errors import SourceFailed
from engines.models.sources import WebFile, WebHost

HOSTS: Mapping[WebHost, str] = {"hf": "https://huggingface.co", "github": "https://github.com"}

_TIMEOUT = httpx.Timeout(30.0, connect=3.0)
_WAITS_S = (0.2, 1.0, 5.0)


class Web:
    """The web hosts during one run. Safe to use from several threads."""

    def __init__(self, hosts: Mapping[WebHost, str] = HOSTS, sleep: Callable[[float], None] = time.sleep) -> None:
        self._hosts = hosts
        self._sleep = sleep
        # Sizes, ranges and hashes are those of the plain file: no compression on the way.
        self._client = httpx.Client(timeout=_TIMEOUT, follow_redirects=True, headers={"Accept-Encoding": "identity"})
        self._asking = threading.Lock()
        self._unreachable: dict[WebHost, str | None] = {}

    def __enter__(self) -> Web:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()

    def download(self, source: WebFile, into: Path, received: Callable[[int], None]) -> None:
        """Bring the file to ``into``, after the bytes that are there already; ``received`` is told the size so far.

        A transfer that breaks is resumed up to three times. Raises SourceFailed.
        """
        self._reach(source.host)
        try:
            self._persist(f"{self._hosts[source.host]}/{source.path}", into, received)
        except httpx.ConnectError as error:
            self._unreachable[source.host] = str(error)
            raise SourceFailed(self._hosts[source.host], f"unreachable ({error})") from error
        except httpx.HTTPStatusError as error:
            answer = error.response
            raise SourceFailed(str(source), f"HTTP {answer.status_code} {answer.reason_phrase}") from error
        except httpx.HTTPError as error:
            raise SourceFailed(str(source), f"transfer broke off ({error})") from error

    def _persist(self, url: str, into: Path, received: Callable[[int], None]) -> None:
        for wait_s in _WAITS_S:
            try:
                return self._continue(url, into, received)
            except httpx.HTTPError as error:
                if not _may_pass(error):
                    raise
            self._sleep(wait_s)
        return self._continue(url, into, received)

    def _continue(self, url: str, into: Path, received: Callable[[int], None]) -> None:
        have = into.stat().st_size if into.exists() else 0
        with self._client.stream("GET", url, headers={"Range": f"bytes={have}-"} if have else {}) as answer:
            if have and answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                return  # nothing follows what is there: whole or wrong, the hash will tell
            answer.raise_for_status()
            goes_on = answer.status_code == httpx.codes.PARTIAL_CONTENT
            with into.open("ab" if goes_on else "wb") as out:
                for chunk in answer.iter_bytes():
                    out.write(chunk)
                    received(out.tell())

    def _reach(self, host: WebHost) -> None:
        with self._asking:
            if host not in self._unreachable:
                self._unreachable[host] = self._ask(self._hosts[host])
            reason = self._unreachable[host]
        if reason is not None:
            raise SourceFailed(self._hosts[host], f"unreachable ({reason})")

    def _ask(self, address: str) -> str | None:
        try:
            self._client.head(address, follow_redirects=False)
        except httpx.TransportError as error:
            return str(error)
        return None


def _may_pass(error: Exception) -> bool:
    """Whether asking again makes sense: broken transfers, timeouts while reading, 429 and 5xx."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code == httpx.codes.TOO_MANY_REQUESTS or error.response.is_server_error
    return isinstance(error, httpx.ReadError | httpx.ReadTimeout | httpx.RemoteProtocolError)
