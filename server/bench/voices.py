"""The candidates' voices: spoken by Kokoro in a worker of our own, kept beside the model store, or taken from files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from engines.http import Target, open_client
from engines.models import Profile, Store
from engines.openai.tts import OpenAITextToSpeech
from engines.protocols import STT_RATE_HZ, TTS_RATE_HZ
from server.bench.texts import MONOLOGUE, QUESTIONS
from server.live.own_processes import START_TIMEOUT_S, OwnProcesses
from server.settings import Settings
from server.settings.engines import OWN_STYLE

Voice = NDArray[np.int16]
"""int16, mono, 16 kHz, shape [n]."""

PHRASE_TIMEOUT_S = 120.0
PAUSE_SHARE = 0.35
"""Length of a pause inside a turn, as a part of the silence that ends it: well inside, and longer than the first look
(200 ms) at the usual 2 s."""

MONOLOGUE_PAUSE_S = 0.5


async def questions(settings: Settings, profile: Profile, store: Store, silence_ms: int) -> list[Voice]:
    """Return the synthetic questions of task 2, with pauses that do not end a turn of ``silence_ms``.

    Raises :class:`engines.errors.EngineError` and :class:`engines.models.ModelError`.
    """
    asked = QUESTIONS[settings.language]
    kept = await spoken((phrase for phrases in asked for phrase in phrases), settings, profile, store)
    return [_joined([kept[phrase] for phrase in phrases], PAUSE_SHARE * silence_ms / 1000) for phrases in asked]


async def monologue(settings: Settings, profile: Profile, store: Store) -> Voice:
    """Return the synthetic monologue of task 1. Raises as :func:`questions`."""
    phrases = MONOLOGUE[settings.language]
    kept = await spoken(phrases, settings, profile, store)
    return _joined([kept[phrase] for phrase in phrases], MONOLOGUE_PAUSE_S)


async def spoken(phrases: Iterable[str], settings: Settings, profile: Profile, store: Store) -> dict[str, Voice]:
    """Return each phrase's voice; what is not kept yet is spoken by a worker that runs for that alone.

    Raises as :func:`questions`.
    """
    wanted = list(dict.fromkeys(phrases))
    places = {phrase: _place(phrase, profile, store) for phrase in wanted}
    missing = [phrase for phrase in wanted if not places[phrase].is_file()]
    if missing:
        await _speak(missing, places, settings, profile, store)
    return {phrase: np.load(place) for phrase, place in places.items()}


async def _speak(
    phrases: Sequence[str], places: dict[str, Path], settings: Settings, profile: Profile, store: Store
) -> None:
    own = OwnProcesses.of(own_engines(settings), profile, store, frozenset({"tts"}))
    worker = own.children["tts"]
    async with worker.running(), open_client(worker.base_url) as client:
        await worker.ready(START_TIMEOUT_S)
        tts = OpenAITextToSpeech(Target(client, worker.base_url, profile.artifacts["tts"].name), profile.voice)
        for phrase in phrases:
            async with aclosing(tts.speak(phrase, timeout_s=PHRASE_TIMEOUT_S)) as blocks:
                samples = np.concatenate([block async for block in blocks])
            _keep(places[phrase], soxr.resample(samples, TTS_RATE_HZ, STT_RATE_HZ))


def own_engines(settings: Settings) -> Settings:
    """Return ``settings`` with every engine in a process of our own, whatever is configured."""
    kinds = ("stt", "llm", "tts")
    own: dict[str, object] = {f"{kind}_style": OWN_STYLE for kind in kinds}
    own |= {f"{kind}_{what}": None for kind in kinds for what in ("url", "model", "fallback_style")}
    return settings.model_copy(update=own | {"tts_voice": None})


def kept_in(store: Store) -> Path:
    """Return the directory where the bench keeps what is made once: beside the model store."""
    return store.root.with_name("bench")


def _place(phrase: str, profile: Profile, store: Store) -> Path:
    sound = f"{profile.artifacts['tts'].files[0].sha256} {profile.voice} {phrase}"
    return kept_in(store) / "voices" / f"{hashlib.sha256(sound.encode()).hexdigest()}.npy"


def _keep(place: Path, voice: Voice) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_suffix(".tmp.npy")
    np.save(temporary, voice)
    temporary.replace(place)


def _joined(voices: Sequence[Voice], pause_s: float) -> Voice:
    pause = np.zeros(round(pause_s * STT_RATE_HZ), np.int16)
    parts = [part for voice in voices for part in (voice, pause)]
    return np.concatenate(parts[:-1])
