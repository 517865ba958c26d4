"""The whole of ``relance bench engines``: the engines as the server runs them, then the stock libraries."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engines.models import Profile, Store, load_lock
from engines.setup import Kind
from engines.silero import SileroVoiceActivity
from engines.styles import opened
from server.bench import voices
from server.bench.engine_calls import answers, guard_us, heard_by, spoken_by, vad_us
from server.bench.engine_figures import guard_figures, llm_figures, stt_figures, tts_figures, vad_figures
from server.bench.machine import this_machine
from server.bench.record import BenchError, Figure, Machine, Record
from server.bench.recording import recorded, settings_told
from server.bench.spoken import rules, spoken_in
from server.bench.stock_job import Job, Results, SttJob, TtsJob, VadJob, run_stock
from server.bench.texts import QUESTIONS, TEXTS, phrases_to_hear, texts_to_speak
from server.bench.turns import Tell
from server.client.audio import load_voice
from server.live.own_processes import OwnProcesses
from server.settings import Settings, load

VAD_STREAMS = (1, 32)
VAD_ROUNDS = 500
"""Windows of each stream: 16 s of audio."""

GUARD_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured. ``said`` is a file with the words of ``audio``, for its word errors."""

    profile: str | None
    audio: tuple[Path, ...]
    said: Path | None
    texts: int
    rounds: int
    stock: bool


def run_engines(wanted: Wanted, tell: Tell) -> Record:
    """Measure, and return the record. Raises as :func:`server.bench.run_turns.run_turns`."""
    machine = this_machine()
    settings = voices.own_engines(load(profile=wanted.profile))
    store = Store(settings.models_dir)
    measuring = Measuring(wanted, machine, settings, load_lock().profile(settings.profile), store, tell)
    figures = asyncio.run(measuring.run())
    told = {"texts": wanted.texts, "rounds": wanted.rounds, "stock": wanted.stock}
    what = "recordings" if wanted.audio else "synthetic sentences"
    return recorded("engines", machine, f"Engines on {what}", {**told, **settings_told(settings, {})}, figures)


class Measuring:
    """One run over the engines of ``profile``, each in a process of our own but for the detector."""

    def __init__(
        self,
        wanted: Wanted,
        machine: Machine,
        settings: Settings,
        profile: Profile,
        store: Store,
        tell: Tell,
    ) -> None:
        self._wanted = wanted
        self._machine = machine
        self._settings = settings
        self._profile = profile
        self._store = store
        self._tell = tell
        texts = texts_to_speak(profile.language)
        self._texts = tuple(
            texts[(2 * at + 1) * TEXTS // (2 * wanted.texts)] for at in range(wanted.texts)
        )  # short and long ones

    async def run(self) -> list[Figure]:
        """Measure one engine after another, then the stock libraries with the engines' processes gone."""
        language = self._profile.language
        vad = SileroVoiceActivity(self._store.path(self._profile, "vad"))
        recordings, said = await self._recordings(vad)
        ours = {streams: await vad_us(vad, np.concatenate(recordings), streams, VAD_ROUNDS) for streams in VAD_STREAMS}
        async with AsyncExitStack() as stack:
            self._tell("starting the engines")
            own = await asyncio.to_thread(OwnProcesses.of, self._settings, self._profile, self._store)
            await own.start(stack)
            stt, tts, llm = [await self._opened(own, kind, stack) for kind in ("stt", "tts", "llm")]
            self._tell(f"speech to text, {len(recordings)} segments")
            heard = await heard_by(stt, recordings, language)
            self._tell(f"text to speech, {len(self._texts)} texts")
            spoken = await spoken_by(tts, self._texts)
            self._tell(f"language model, {self._wanted.rounds} dialogues")
            answered = [each async for each in answers(llm, language, QUESTIONS[language], self._wanted.rounds)]
        stock = await self._stock(recordings) if self._wanted.stock else Results()
        amx = any(flag.startswith("amx") for flag in self._machine.flags)
        return [
            *(figure for streams, took in ours.items() for figure in vad_figures(took, streams, stock.vad_us)),
            *stt_figures(heard, stock.stt, said),
            *tts_figures(self._texts, spoken, stock.tts, amx=amx),
            *llm_figures(answered),
            *guard_figures(guard_us(language, self._texts, GUARD_ROUNDS)),
        ]

    async def _opened(self, own: OwnProcesses, kind: Kind, stack: AsyncExitStack) -> Any:
        (choice,) = self._settings.choices(kind)
        return await opened(choice.style, own.setup(choice), stack)

    async def _recordings(self, vad: SileroVoiceActivity) -> tuple[list[voices.Voice], str]:
        """Return what is to be heard, cut as the server cuts it, and the words in it as far as they are known."""
        if not self._wanted.audio:
            phrases = phrases_to_hear(self._profile.language)
            kept = await voices.spoken(phrases, self._settings, self._profile, self._store)
            return [kept[phrase] for phrase in phrases], " ".join(phrases)
        stream = np.concatenate([np.pad(load_voice(path), (0, 16_000)) for path in self._wanted.audio])
        spoken = await spoken_in(stream, vad, rules(None))
        if not spoken.segments:
            raise BenchError("there is no speech in the audio")
        return [stream[start:end] for start, end in spoken.segments], self._said()

    def _said(self) -> str:
        if self._wanted.said is None:
            return ""
        try:
            return self._wanted.said.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            raise BenchError(f"cannot read {self._wanted.said} as text") from fault

    async def _stock(self, recordings: list[voices.Voice]) -> Results:
        self._tell("the stock libraries")
        profile, language = self._profile, self._profile.language
        tts, voices_bin = (str(self._store.path(profile, role)) for role in ("tts", "voices"))
        with tempfile.TemporaryDirectory(prefix="relance-bench-") as place:
            audio = str(Path(place) / "recordings.npz")
            named: dict[str, Any] = {str(number): samples for number, samples in enumerate(recordings)}
            np.savez(audio, **named)
            job = Job(
                VadJob(str(self._store.path(profile, "vad")), audio, VAD_ROUNDS),
                SttJob(str(self._store.path(profile, "stt")), language, self._settings.stt_threads, audio),
                TtsJob(tts, voices_bin, profile.voice, language, self._texts),
            )
            return await run_stock(job, Path(place))
