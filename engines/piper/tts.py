"""Text to speech by a piper process: one text at a time, one process for all, started again where it ends."""

from __future__ import annotations

import asyncio
import math
import wave
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engines.audio import at_voice_rate, samples_of
from engines.deadline import Deadline
from engines.errors import EngineFault, EngineTruncated
from engines.http_errors import named_faults
from engines.piper.process import ENGINE, PiperProcess


class PiperTextToSpeech:
    """See :class:`engines.protocols.TextToSpeech`.

    ``command`` is the argument list of a process that speaks piper's JSON lines (:mod:`engines.piper.process`), for
    instance ``python -m engines.piper --model voice.onnx``; it is started with the first text. ``speaker`` is the name
    of one of several in the voice. A text that is not done by its deadline ends the process.
    """

    def __init__(self, command: Sequence[str], *, speaker: str | None = None) -> None:
        self._command = tuple(command)
        self._speaker = speaker
        self._turn = asyncio.Lock()
        self._process: PiperProcess | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process, ``None`` before its first text."""
        return self._process.pid if self._process else None

    async def speak(self, text: str, *, timeout_s: float) -> AsyncGenerator[NDArray[np.int16]]:
        """Yield mono audio at 24 kHz, one block of shape [n]."""
        line = " ".join(text.split())
        yield await self._block(line, Deadline(timeout_s))

    async def aclose(self) -> None:
        """End the process. The engine cannot be used afterwards."""
        async with self._turn:
            await self._end()

    async def _block(self, line: str, deadline: Deadline) -> NDArray[np.int16]:
        with named_faults(ENGINE):
            async with self._its_turn(deadline):
                samples = await self._said(line, deadline)
        if not len(samples):
            raise EngineTruncated(ENGINE, "expected audio, the file had none")
        return samples

    @asynccontextmanager
    async def _its_turn(self, deadline: Deadline) -> AsyncIterator[None]:
        async with deadline.within(math.inf):
            await self._turn.acquire()
        try:
            yield
        finally:
            self._turn.release()

    async def _said(self, line: str, deadline: Deadline) -> NDArray[np.int16]:
        """Return the audio of ``line``; a process that is not done by the deadline is ended."""
        try:
            async with deadline.within(math.inf):
                process = await self._running()
                wav = await process.wav(line, self._speaker)
                return await asyncio.to_thread(_taken, wav)
        except TimeoutError:
            await self._end(grace_s=0.0)
            raise

    async def _running(self) -> PiperProcess:
        if self._process is None or not self._process.alive:
            await self._end()
            self._process = await PiperProcess.start(self._command)
        return self._process

    async def _end(self, **grace: float) -> None:
        process, self._process = self._process, None
        if process is not None:
            await asyncio.shield(process.stop(**grace))


def _taken(wav: Path) -> NDArray[np.int16]:
    """Return the samples of the file at 24 kHz, shape [n], and delete it."""
    try:
        with wave.open(str(wav), "rb") as file:
            shape = file.getnchannels(), file.getsampwidth()
            if shape != (1, 2):
                raise EngineFault(ENGINE, f"expected mono of 2 bytes a sample, got {shape[0]} channels of {shape[1]}")
            return at_voice_rate(samples_of(file.readframes(file.getnframes())), file.getframerate())
    except (wave.Error, EOFError, OSError) as error:
        raise EngineFault(ENGINE, f"expected a WAV file, got none that can be read ({type(error).__name__})") from error
    finally:
        wav.unlink(missing_ok=True)
