"""Peers of the adapters for text to speech: each style's other side, told what to answer."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import wave
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engines.piper.tts import PiperTextToSpeech

DOUBLE = Path(__file__).parent / "piper_double.py"


@dataclass(frozen=True)
class Audio:
    """What a peer answers to one text: ``samples``, int16 mono at ``rate_hz``; none at all may be said."""

    samples: np.ndarray
    rate_hz: int = 24_000


class PiperDouble:
    """A program of the tests behind a real ``adapter``; ``steps`` are those of its score."""

    adapter: PiperTextToSpeech

    def __init__(self, folder: Path, *steps: str) -> None:
        self.folder = folder
        self.command = [sys.executable, str(DOUBLE), str(folder)]
        (folder / "score.json").write_text(json.dumps(steps))
        for pipe in ("asked", "go"):
            os.mkfifo(folder / pipe)

    async def asked(self) -> None:
        """Wait until the program hangs, or waits for :meth:`go`, with a text."""
        assert await asyncio.to_thread((self.folder / "asked").read_text) == "asked"

    async def go(self) -> None:
        """Let the program that waits go on."""
        await asyncio.to_thread((self.folder / "go").write_text, "go")

    @property
    def lines(self) -> list[dict]:
        """The requests that came, in order."""
        log = self.folder / "lines"
        return [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []

    @property
    def lives(self) -> list[int]:
        """The process id of each start."""
        log = self.folder / "lives"
        return [int(line) for line in log.read_text().split()] if log.exists() else []


@dataclass(frozen=True)
class TtsStyle:
    """How one style is asked for a text, and how its peer is made."""

    name: str
    packet: Callable[[object, str], None]
    """Checks a request."""


def openai_packet(request, text: str) -> None:
    told = {"model": "some-model", "input": text, "voice": "ff_siwis", "speed": 1.0, "response_format": "pcm"}
    assert (request.path, request.json) == ("/v1/audio/speech", told)


def gemini_packet(request, text: str) -> None:
    assert request.path == "/v1/models/some-model:generateContent"
    assert request.json == {
        "contents": [{"role": "user", "parts": [{"text": text}]}],
        "generationConfig": {
            "responseModalities": ["AUDIO"],
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}},
        },
    }


def piper_packet(request: dict, text: str) -> None:
    assert Path(request["output_file"]).suffix == ".wav"
    assert request == {"text": text, "output_file": request["output_file"]}


STYLES = [TtsStyle("openai", openai_packet), TtsStyle("gemini", gemini_packet), TtsStyle("piper", piper_packet)]


@pytest.fixture(params=STYLES, ids=lambda style: style.name)
def style(request: pytest.FixtureRequest) -> TtsStyle:
    return request.param


@pytest.fixture(params=STYLES[1:], ids=lambda style: style.name)
def style_with_rate(request: pytest.FixtureRequest) -> TtsStyle:
    """A style whose answers tell their rate: that of ``openai`` is fixed by its format."""
    return request.param


@pytest.fixture
def audio() -> type[Audio]:
    return Audio


@pytest.fixture
def wav_file(tmp_path: Path) -> Callable[..., str]:
    """Write a WAV file; return its path."""
    made = iter(range(100))

    def write(samples: np.ndarray, rate_hz: int = 24_000, channels: int = 1) -> str:
        path = tmp_path / f"made-{next(made)}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(rate_hz)
            file.writeframes(samples.astype("<i2").tobytes())
        return str(path)

    return write


@pytest.fixture
def piper(lab, tmp_path: Path):
    """Give an engine and the program behind it, whose steps are told."""

    @asynccontextmanager
    async def opened(*steps: str, **options: object) -> AsyncIterator[tuple[object, PiperDouble]]:
        double = PiperDouble(tmp_path, *steps)
        async with aclosing(PiperTextToSpeech(double.command, **options)) as double.adapter:
            yield lab.resilient("tts", "piper", double.adapter), double

    return opened


@pytest.fixture
def tts_peer(lab, piper, wav_file):
    """Give an adapter of a style whose other side says each of ``answers`` in turn, and the requests that it got."""
    kinds = {kind.style: kind for kind in lab.KINDS if kind.name == "tts"}

    def http_answer(style: TtsStyle, audio: Audio) -> list:
        pcm = audio.samples.astype("<i2").tobytes()
        if style.name == "openai":
            return lab.answer(pcm, kind="audio/pcm")
        return lab.answer(lab.generated(lab.pcm_part(pcm, f"audio/L16;codec=pcm;rate={audio.rate_hz}")))

    @asynccontextmanager
    async def opened(style: TtsStyle, *answers: Audio) -> AsyncIterator[tuple[object, Callable[[], list]]]:
        if style.name == "piper":
            async with piper(*(wav_file(each.samples, each.rate_hz) for each in answers)) as (tts, double):
                yield tts, lambda: double.lines
            return
        played = [http_answer(style, each) for each in answers]
        async with lab.server(*played) as server, lab.engine(kinds[style.name], server.base) as tts:
            yield tts, lambda: server.requests

    return opened
