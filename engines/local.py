"""The two engines that run on this machine, as children: what they are told, and the inference that proves them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import msgspec

from engines.errors import EngineError, EngineFault, EngineMisconfigured, EngineUnavailable
from engines.protocols import Language
from engines.supervision import RestartPolicy, Supervised
from engines.worker.config import SttConfig, TtsConfig, WorkerConfig

PROBE_TEXT: Final[Mapping[Language, str]] = {"fr": "Bonjour.", "en": "Hello there."}
"""What the worker says to itself, and must understand, to be ready."""

_PROBE_TIMEOUT_S: Final = 60.0
"""One inference of a small model takes seconds at most; a slow or busy machine may need ten times that."""


@dataclass(frozen=True, slots=True)
class SpeechWorkerSpec:
    """The speech worker's models (:class:`engines.models.Store` gives their paths), language, voice and threads."""

    stt_dir: Path
    tts_onnx: Path
    voices_bin: Path
    vad_onnx: Path
    language: Language
    voice: str
    stt_name: str = "whisper"
    tts_name: str = "kokoro"
    stt_threads: int = 2
    tts_threads: int = 2
    tts_rebuilt_dir: Path | None = None
    lane_capacity: int = 8
    idle_s: float = 30.0

    def config(self, port: int) -> WorkerConfig:
        """Return the worker's configuration for ``port``."""
        return WorkerConfig(
            port=port,
            stt=SttConfig(str(self.stt_dir), self.stt_name, self.language, self.stt_threads),
            tts=TtsConfig(
                str(self.tts_onnx),
                str(self.voices_bin),
                self.tts_name,
                self.voice,
                self.tts_threads,
                rebuilt_dir=str(self.tts_rebuilt_dir) if self.tts_rebuilt_dir else None,
            ),
            vad_onnx=str(self.vad_onnx),
            lane_capacity=self.lane_capacity,
            idle_s=self.idle_s,
        )


@dataclass(frozen=True, slots=True)
class LlamaSpec:
    """The llama.cpp process: a GGUF file, its name in requests, threads, tokens of context in all, slots."""

    model: Path
    name: str = "local"
    threads: int = 2
    ctx: int = 8192
    parallel: int = 5


def speech_worker(spec: SpeechWorkerSpec, policy: RestartPolicy | None = None) -> Supervised:
    """Return the speech worker, not yet running. Its base URL serves OpenAI's audio routes."""

    def command(port: int) -> Sequence[str]:
        config = msgspec.json.encode(spec.config(port)).decode()
        return (sys.executable, "-m", "engines.worker", "--with-parent", "--config", config)

    env = _threads(max(spec.stt_threads, spec.tts_threads)) | {"HF_HUB_OFFLINE": "1"}
    return Supervised("speech", command, partial(prove_speech, spec), env=env, policy=policy)


def llama(spec: LlamaSpec, policy: RestartPolicy | None = None) -> Supervised:
    """Return the llama.cpp process, not yet running. Its base URL serves OpenAI's chat completions."""

    def command(port: int) -> Sequence[str]:
        numbers = {"--port": port, "--threads": spec.threads, "--ctx": spec.ctx, "--parallel": spec.parallel}
        flags = [part for flag, number in numbers.items() for part in (flag, str(number))]
        model = ("--model", str(spec.model), "--name", spec.name)
        return (sys.executable, "-m", "engines.llamacpp", "--with-parent", *model, *flags)

    return Supervised("llm", command, partial(prove_llm, spec), env=_threads(spec.threads), policy=policy)


async def prove_speech(spec: SpeechWorkerSpec, base_url: str) -> None:
    """Let the worker speak a word and understand it; raises :class:`EngineError` when either fails."""
    text = PROBE_TEXT[spec.language]
    wanted = {"model": spec.tts_name, "voice": spec.voice, "input": text, "response_format": "wav"}
    async with httpx.AsyncClient(timeout=_PROBE_TIMEOUT_S) as client:
        spoken = await _post(client, "speech", f"{base_url}/audio/speech", json=wanted)
        heard = await _post(
            client,
            "speech",
            f"{base_url}/audio/transcriptions",
            data={"model": spec.stt_name, "language": spec.language},
            files={"file": ("probe.wav", spoken.content)},
        )
    if not heard.json().get("text", "").strip():
        raise EngineFault("speech", f"expected it to understand its own {text!r}, it understood nothing")


async def prove_llm(spec: LlamaSpec, base_url: str) -> None:
    """Ask for one token; raises :class:`EngineError` when none comes."""
    asked = {"model": spec.name, "max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
    async with httpx.AsyncClient(timeout=_PROBE_TIMEOUT_S) as client:
        answer = await _post(client, "llm", f"{base_url}/chat/completions", json=asked)
    if answer.json().get("usage", {}).get("completion_tokens") != 1:
        raise EngineFault("llm", "expected one token, got none")


async def _post(client: httpx.AsyncClient, engine: str, url: str, **body: object) -> httpx.Response:
    try:
        response = await client.post(url, **body)  # type: ignore[arg-type]  # json, data and files as httpx has them
    except httpx.HTTPError as error:
        raise EngineUnavailable(engine, f"no answer: {type(error).__name__}") from error
    if response.is_success:
        return response
    kind: type[EngineError] = EngineMisconfigured
    if response.status_code == 429 or response.status_code >= 500:
        kind = EngineUnavailable
    raise kind(engine, f"expected 200, got {response.status_code}")


def _threads(count: int) -> dict[str, str]:
    """One thread budget for whatever library a child loads: more threads than cores are slower, not faster.

    OpenMP's threads sleep at their barriers instead of spinning. They spin by default, and two processes that spin on
    the same two cores starve each other: a short request to SmolLM on a busy machine of two cores took 2 to 93 s that
    way, and 1.3 to 1.8 s asleep. OpenBLAS has one thread: it makes Whisper's features, a millisecond's work, and then
    its others spin while Whisper encodes, which took 57 ms beside them and 31 ms without.
    """
    budget = {"OMP_NUM_THREADS": str(count), "MKL_NUM_THREADS": str(count), "OPENBLAS_NUM_THREADS": "1"}
    return {**budget, "OMP_WAIT_POLICY": "passive", "TOKENIZERS_PARALLELISM": "false"}
