"""One child process: its pipes, its last words, its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

import structlog

TAIL_LINES: Final = 20
"""Lines of standard error that are kept, to say why a start failed."""

_LINE_CHARS: Final = 400
_log = structlog.get_logger()


class Child:
    """A running process; leaving ``async with`` stops it and waits until it is gone.

    It lives in a session of its own, so that a Ctrl-C in the terminal reaches the parent alone, which stops its
    children in order. Its standard input is a pipe that ends when this process does, by whatever death.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process, grace_s: float) -> None:
        """Take over ``process``; :meth:`spawn` makes both."""
        self._name = name
        self._process = process
        self._grace_s = grace_s
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._reading = asyncio.create_task(self._read_errors(), name=f"stderr-{name}")

    @classmethod
    async def spawn(cls, name: str, command: Sequence[str], env: Mapping[str, str], grace_s: float) -> Self:
        """Start ``command`` with ``env`` added to this environment; it gets ``grace_s`` to end when it is stopped."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **env},
            start_new_session=True,
        )
        return cls(name, process, grace_s)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; ``None`` while it runs."""
        return self._process.returncode

    @property
    def last_line(self) -> str:
        """The last line on standard error, empty when there is none."""
        return self._tail[-1] if self._tail else ""

    async def exited(self) -> int:
        """Wait for the end of the process and of its standard error; returns the exit code."""
        code = await self._process.wait()
        await asyncio.wait((self._reading,), timeout=1.0)  # a grandchild may keep the pipe open
        return code

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.shield(self._stop())

    async def _stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(self._grace_s):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self._reading.cancel()

    async def _read_errors(self) -> None:
        """Keep a bounded tail; the pipe is always drained, or the child would block on it."""
        assert self._process.stderr is not None  # noqa: S101  # it was asked for as a pipe
        while True:
            try:
                raw = await self._process.stderr.readline()
            except ValueError:  # a line longer than the reader's buffer, which was dropped
                continue
            if not raw:
                return
            line = raw.decode(errors="replace").strip()[:_LINE_CHARS]
            if line:
                self._tail.append(line)
                _log.debug("child_stderr", child=self._name, line=line)
