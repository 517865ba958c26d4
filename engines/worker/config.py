"""What a worker is told at its start: model files, names, threads and limits. No model is fetched at run time."""

from __future__ import annotations

import msgspec


class SttConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A faster-whisper model. ``language`` serves requests that name none; it is never detected."""

    model_dir: str
    name: str
    language: str
    threads: int = 2


class TtsConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Kokoro model and its voices; ``voice`` serves requests that name none, and the warm-up.

    ``rebuilt_dir`` is where the faster graph of the model is kept, which is made there when it is missing; ``None``:
    the model is run as it is.
    """

    onnx: str
    voices_bin: str
    name: str
    voice: str
    threads: int = 2
    rebuilt_dir: str | None = None


class WorkerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One worker. A part that is ``None`` is not loaded, and its route answers that there is no such model.

    ``lane_capacity`` is how many requests one lane holds at once, waiting ones included; one more gets 429.
    ``max_audio_s`` bounds the *decoded* length of an upload: a small compressed file may hold hours. ``idle_s`` is how
    long a caller may neither send nor take a byte, in seconds, before the connection is given up.
    """

    port: int
    stt: SttConfig | None = None
    tts: TtsConfig | None = None
    vad_onnx: str | None = None
    lane_capacity: int = 8
    max_upload_bytes: int = 26_214_400
    max_audio_s: int = 3_600
    idle_s: float = 30.0
