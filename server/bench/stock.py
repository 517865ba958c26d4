"""The stock library calls, in a process of their own: ``python -m server.bench.stock JOB.json``, JSON on stdout.

They are what a program without this project would run: onnxruntime on one window at a time, faster-whisper's greedy
``transcribe``, kokoro-onnx's ``create`` and ``create_stream``. Each is called once before it counts. Never imported by
the server's own process: espeak-ng and phonemizer (GPL-3.0) come with Kokoro.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import msgspec
import numpy as np
import onnxruntime
from faster_whisper import WhisperModel
from kokoro_onnx import Kokoro
from numpy.typing import NDArray

from engines.protocols import STT_RATE_HZ, TTS_RATE_HZ, VAD_WINDOW_SAMPLES
from engines.silero import CONTEXT_SAMPLES, STATE_SIZE
from server.bench.stock_job import Heard, Job, Results, Spoken, SttJob, TtsJob, VadJob
from server.speech.pcm import to_float32

_ESPEAK = {"fr": "fr-fr", "en": "en-us"}


def run(job: Job) -> Results:
    """Do what ``job`` asks, one part after another."""
    return Results(
        vad_us=_vad(job.vad) if job.vad else (),
        stt=_stt(job.stt) if job.stt else (),
        tts=_tts(job.tts) if job.tts else (),
    )


def _vad(job: VadJob) -> tuple[float, ...]:
    options = onnxruntime.SessionOptions()  # type: ignore[attr-defined]  # exported without __all__
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(  # type: ignore[attr-defined]
        job.onnx, options, providers=["CPUExecutionProvider"]
    )
    samples = to_float32(np.load(job.audio)["0"])
    state: NDArray[np.float32] = np.zeros((2, 1, STATE_SIZE), np.float32)
    context = np.zeros(CONTEXT_SAMPLES, np.float32)
    rate, took = np.array(STT_RATE_HZ, np.int64), []
    for at in range(job.rounds + 1):
        start = at * VAD_WINDOW_SAMPLES % (samples.size - VAD_WINDOW_SAMPLES)
        window = samples[start : start + VAD_WINDOW_SAMPLES]
        begun = time.perf_counter()
        feed = {"input": np.concatenate((context, window))[None], "state": state, "sr": rate}
        state = np.asarray(session.run(None, feed)[1], np.float32)
        took.append((time.perf_counter() - begun) * 1e6)
        context = window[-CONTEXT_SAMPLES:]
    return tuple(took[1:])


def _stt(job: SttJob) -> tuple[Heard, ...]:
    model = WhisperModel(job.model_dir, device="cpu", compute_type="int8", cpu_threads=job.threads)
    with np.load(job.audio) as file:
        recordings = [to_float32(file[str(number)]) for number in range(len(file.files))]
    return tuple(_transcribed(model, samples, job.language) for samples in [recordings[0], *recordings])[1:]


def _transcribed(model: WhisperModel, samples: NDArray[np.float32], language: str) -> Heard:
    begun = time.perf_counter()
    found, _ = model.transcribe(samples, language=language, beam_size=1, vad_filter=False)
    text = " ".join(segment.text.strip() for segment in found)  # the work is done as the segments are taken
    return Heard(time.perf_counter() - begun, samples.size / STT_RATE_HZ, text)


def _tts(job: TtsJob) -> tuple[Spoken, ...]:
    kokoro = Kokoro(job.onnx, job.voices_bin)
    lang = _ESPEAK[job.language]
    kokoro.create(job.texts[0], job.voice, lang=lang)
    return tuple(_spoken(kokoro, text, job.voice, lang) for text in job.texts)


def _spoken(kokoro: Kokoro, text: str, voice: str, lang: str) -> Spoken:
    begun = time.perf_counter()
    samples, _ = kokoro.create(text, voice, lang=lang)
    whole_s = time.perf_counter() - begun
    return Spoken(asyncio.run(_first_chunk_s(kokoro, text, voice, lang)), whole_s, len(samples) / TTS_RATE_HZ)


async def _first_chunk_s(kokoro: Kokoro, text: str, voice: str, lang: str) -> float:
    begun = time.perf_counter()
    first_s: float | None = None
    async for _ in kokoro.create_stream(text, voice, lang=lang):  # to its end: its thread would work on otherwise
        first_s = first_s if first_s is not None else time.perf_counter() - begun
    return first_s or 0.0


if __name__ == "__main__":
    asked = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Job)
    sys.stdout.buffer.write(msgspec.json.encode(run(asked)))
