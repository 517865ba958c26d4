"""A child process that is kept running: started, proven by a real inference, restarted after a crash, stopped.

========== ========================================= ==========
state      event                                     next
========== ========================================= ==========
starting   the probe succeeds                        ready
starting   the child exits, or is not ready in time  restarting
starting   … for good (see :class:`RestartPolicy`)   failed
ready      the child exits                           restarting
restarting the wait is over                          starting
any        ``run`` is cancelled                      stopped
========== ========================================= ==========

``failed`` and ``stopped`` are final.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Self

import structlog

from engines import exits
from engines.child import Child
from engines.errors import EngineError, EngineMisconfigured, EngineTimeout

State = Literal["starting", "ready", "restarting", "stopped", "failed"]

Command = Callable[[int], Sequence[str]]
"""Gives the argument list that serves on a port of 127.0.0.1."""

Probe = Callable[[str], Awaitable[None]]
"""Does one real inference at a base URL; raises :class:`EngineError` when that does not succeed."""

_POLL_S: Final = 0.1
"""Wait between two probes of a child that does not answer yet."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How long to wait for what, in seconds.

    The wait before a restart begins at ``first_wait_s`` and doubles with each crash in a row up to ``max_wait_s``; a
    child that was ready for ``stable_s`` begins a new row. A child that was never ready gets ``max_starts`` starts; one
    that was is restarted for ever. A start may take ``start_timeout_s``; a stop ``grace_s``, then the child is killed.
    """

    first_wait_s: float = 0.25
    max_wait_s: float = 30.0
    stable_s: float = 60.0
    max_starts: int = 3
    start_timeout_s: float = 120.0
    grace_s: float = 5.0

    def wait_s(self, crashes: int) -> float:
        """Return the wait after ``crashes`` crashes in a row, 1 for the first."""
        return min(self.max_wait_s, self.first_wait_s * 2.0 ** min(crashes - 1, 32))


class Supervised:
    """One child and its state. Give :meth:`run` to a task group, or use :meth:`running`."""

    def __init__(
        self,
        name: str,
        command: Command,
        probe: Probe,
        *,
        env: Mapping[str, str] | None = None,
        policy: RestartPolicy | None = None,
    ) -> None:
        """Prepare to run ``command``, with ``env`` added to this environment, under the engine name ``name``."""
        self.name = name
        self.state: State = "starting"
        self.restarts = 0
        self.pid: int | None = None
        self.failure = ""
        self._command = command
        self._probe = probe
        self._env = dict(env or {})
        self._policy = policy or RestartPolicy()
        self._port = free_port()
        self._was_ready = False
        self._turned = asyncio.Event()

    @property
    def base_url(self) -> str:
        """The address of the child's API. It stays over restarts, unless another process took the port meanwhile."""
        return f"http://127.0.0.1:{self._port}/v1"

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Run for the length of the ``async with``; at its end the child is gone."""
        task = asyncio.create_task(self.run(), name=f"supervise-{self.name}")
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.wait((task,))

    async def ready(self, timeout_s: float) -> None:
        """Wait until the child is ready.

        Raises :class:`EngineMisconfigured` with its last words when it failed for good or was stopped,
        :class:`EngineTimeout` after ``timeout_s``.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self.reaches("ready", "failed", "stopped")
        except TimeoutError:
            message = f"not ready after {timeout_s:g} s, it is {self.state}. {self.failure}".rstrip()
            raise EngineTimeout(self.name, message) from None
        if self.state != "ready":
            raise EngineMisconfigured(self.name, self.failure or f"it is {self.state}")

    async def reaches(self, *states: State) -> None:
        """Wait until the state is one of ``states``; returns at once when it is."""
        while self.state not in states:
            await self._turned.wait()

    async def run(self) -> None:
        """Keep the child running until this is cancelled, which stops it. Returns only when it failed for good."""
        crashes = 0
        try:
            while True:
                self._turn("starting")
                code, ready_s = await self._one_life()
                crashes = 1 if ready_s >= self._policy.stable_s else crashes + 1
                if code == exits.UNUSABLE or (not self._was_ready and crashes >= self._policy.max_starts):
                    self._turn("failed")
                    return
                if code == exits.PORT_TAKEN:
                    self._port = free_port()
                self.restarts += 1
                self._turn("restarting")
                await asyncio.sleep(self._policy.wait_s(crashes))
        finally:
            if self.state != "failed":
                self._turn("stopped")

    async def _one_life(self) -> tuple[int | None, float]:
        """From start to end of one process: its exit code (``None``: ended by us) and how long it was ready, in s."""
        clock = asyncio.get_running_loop().time
        ready_s = 0.0
        command = self._command(self._port)
        async with await Child.spawn(self.name, command, self._env, self._policy.grace_s) as child:
            self.pid = child.pid
            try:
                if await self._becomes_ready(child):
                    self._was_ready = True
                    self._turn("ready")
                    since = clock()
                    self.failure = _end(await child.exited(), child.last_line)
                    ready_s = clock() - since
                return child.code, ready_s
            finally:
                self.pid = None

    async def _becomes_ready(self, child: Child) -> bool:
        """Probe until it succeeds, the child exits or the time is up; :attr:`failure` tells which, when it is false."""
        self.failure = ""
        exited = asyncio.ensure_future(child.exited())
        proven = asyncio.ensure_future(self._proven())
        limit_s = self._policy.start_timeout_s
        try:
            await asyncio.wait((exited, proven), timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if exited.done():
                self.failure = _end(exited.result(), child.last_line)
            elif not proven.done():
                self.failure = f"it was not ready after {limit_s:g} s. {self.failure}".rstrip()
            elif error := proven.exception():
                self.failure = f"its first inference failed: {error}"
            else:
                return True
            return False
        finally:
            exited.cancel()
            proven.cancel()
            await asyncio.gather(exited, proven, return_exceptions=True)

    async def _proven(self) -> None:
        while True:
            try:
                return await self._probe(self.base_url)
            except EngineError as error:
                if not error.transient:
                    raise
                self.failure = str(error)
            await asyncio.sleep(_POLL_S)

    def _turn(self, state: State) -> None:
        self.state = state
        self._turned.set()
        self._turned = asyncio.Event()
        told = {"child": self.name, "state": state, "restarts": self.restarts}
        if state in ("restarting", "failed"):
            _log.warning("child_state", **told, failure=self.failure)
        else:
            _log.info("child_state", **told)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing listens on now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


def _end(code: int, last_line: str) -> str:
    how = f"it was killed by signal {-code}" if code < 0 else f"it exited with code {code}"
    return f"{how}: {last_line}" if last_line else how
