"""What the process of the stock libraries is asked and answers, and how it is run. Times are seconds."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from server.bench.record import BenchError


class VadJob(msgspec.Struct, frozen=True):
    """So many windows of the first recording in ``audio`` (``.npz``, int16 at 16 kHz)."""

    onnx: str
    audio: str
    rounds: int


class SttJob(msgspec.Struct, frozen=True):
    """Each recording in ``audio`` (``.npz``, int16 at 16 kHz, named ``0``, ``1``, …)."""

    model_dir: str
    language: str
    threads: int
    audio: str


class TtsJob(msgspec.Struct, frozen=True):
    """Each text, once whole and once as a stream."""

    onnx: str
    voices_bin: str
    voice: str
    language: str
    texts: tuple[str, ...]


class Job(msgspec.Struct, frozen=True):
    """What is asked."""

    vad: VadJob | None = None
    stt: SttJob | None = None
    tts: TtsJob | None = None


class Heard(msgspec.Struct, frozen=True):
    """One recording's transcript: what it took, how long the recording is."""

    took_s: float
    audio_s: float
    text: str


class Spoken(msgspec.Struct, frozen=True):
    """One text's speech: until its first audio, until its last, and how long the audio is."""

    first_s: float
    whole_s: float
    audio_s: float


class Results(msgspec.Struct, frozen=True):
    """What was measured; ``vad_us`` is microseconds a window."""

    vad_us: tuple[float, ...] = ()
    stt: tuple[Heard, ...] = ()
    tts: tuple[Spoken, ...] = ()


async def run_stock(job: Job, place: Path) -> Results:
    """Have ``job`` done by a process of its own; ``place`` is a directory for its file. Raises :class:`BenchError`."""
    file = place / "job.json"
    file.write_bytes(msgspec.json.encode(job))
    command = (sys.executable, "-m", "server.bench.stock", str(file))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    try:
        out, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = errors.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise BenchError(f"the stock libraries ended with status {process.returncode}: {last[0]}")
    return msgspec.json.decode(out, type=Results)
