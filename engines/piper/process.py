"""A piper process that stays up: one JSON line in, the path of a WAV file out.

The packet is that of piper's ``--json-input``: ``{"text", "output_file", "speaker"?}``, answered by a line with the
path once the file is written. Nothing in it can call a text off: the file of one that nobody waits for any more is
deleted when the next one's answer is read, or with the whole directory.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

import msgspec

from engines import exits
from engines.errors import EngineMisconfigured, EngineUnavailable

ENGINE: Final = "tts"

GRACE_S: Final = 2.0
"""How long a process may take to end after its standard input has; it may be in the middle of a text."""


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of standard input."""

    text: str
    output_file: str
    speaker: str | None = None


class PiperProcess:
    """One running process and the directory of its files. Not for two texts at once.

    It lives in a session of its own, so that a Ctrl-C in the terminal reaches the parent alone, and ends with its
    standard input, which ends with this process, by whatever death. What it writes to standard error is dropped: it may
    quote the text.
    """

    def __init__(self, process: asyncio.subprocess.Process, files: tempfile.TemporaryDirectory[str]) -> None:
        """Take over both; :meth:`start` makes them."""
        self._process = process
        self._files = files
        self._asked = 0

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        """Run ``command``; raises :class:`engines.errors.EngineMisconfigured` when it cannot be run at all."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            message = f"expected a program that can be run, got {command[0]!r} ({type(error).__name__})"
            raise EngineMisconfigured(ENGINE, message) from error
        return cls(process, tempfile.TemporaryDirectory(prefix="relance-piper-", ignore_cleanup_errors=True))

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process has not ended, as far as is known."""
        return self._process.returncode is None

    async def wav(self, text: str, speaker: str | None) -> Path:
        """Return the path of a WAV file that says ``text``, one line; the caller deletes it.

        Raises :class:`engines.errors.EngineUnavailable` when the process ends before it has answered,
        :class:`engines.errors.EngineMisconfigured` when it says that it never will. Cancelling leaves the process with
        the text; the next call waits for it.
        """
        assert self._process.stdin is not None  # noqa: S101  # it was asked for as a pipe
        self._asked += 1
        wav = Path(self._files.name) / f"{self._asked}.wav"
        with contextlib.suppress(ConnectionError):  # it has ended: so has its output
            self._process.stdin.write(msgspec.json.encode(Request(text, str(wav), speaker)) + b"\n")
            await self._process.stdin.drain()
        while (written := await self._written()) != wav:
            written.unlink(missing_ok=True)
        return wav

    async def stop(self, grace_s: float = GRACE_S) -> None:
        """End the process, by force after ``grace_s`` seconds, and delete what it wrote."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(grace_s):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        finally:
            self._files.cleanup()

    async def _written(self) -> Path:
        """Return the next path that the process prints and that is in our directory; other output is skipped."""
        while line := await self._line():
            path = Path(line.decode(errors="replace").strip())
            if path.parent == Path(self._files.name):
                return path
        code = await self._process.wait()
        if code == exits.UNUSABLE:
            message = "expected a voice that can be used, piper ended at once: run its command by hand to see why"
            raise EngineMisconfigured(ENGINE, message)
        raise EngineUnavailable(ENGINE, f"expected the path of a WAV file, piper ended with code {code}")

    async def _line(self) -> bytes:
        """Return the next line of output, nothing at its end, an empty line for one longer than any path."""
        assert self._process.stdout is not None  # noqa: S101  # it was asked for as a pipe
        try:
            return await self._process.stdout.readline()
        except ValueError:  # longer than the reader's buffer, and dropped
            return b"\n"
