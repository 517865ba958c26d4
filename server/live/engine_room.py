"""The engines of one server: those that the settings ask for, started, proven, and kept.

Nothing is called ready before it has done one real inference. An engine elsewhere that is not there yet is asked again
until it is; where it has a fallback, that serves meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import structlog

from engines.breaker import ProbeRules, keep_probing
from engines.errors import EngineError
from engines.models import ModelError, Profile, Store, load_lock
from engines.proofs import prove_llm, prove_stt, prove_tts
from engines.resilience import Attempt, Backend, Resilience
from engines.resilient import ResilientLanguageModel, ResilientSpeechToText, ResilientTextToSpeech
from engines.setup import Kind
from engines.silero import SileroVoiceActivity
from engines.styles import opened
from server.alongside import alongside
from server.exam.bank import every_sentence
from server.exam.lead import Lead
from server.live.bank import spoken_ahead
from server.live.own_processes import OwnProcesses
from server.live.session import Engines
from server.live.watch import Watch
from server.metrics import Metrics
from server.settings import Settings
from server.settings.engines import KINDS

ASK_AGAIN_S = 2.0
PROBES = ProbeRules()

Prove = Callable[[Any], Awaitable[object]]
"""Does one real inference on an engine; raises :class:`engines.errors.EngineError`."""

log = structlog.get_logger()


class EngineRoom:
    """Starts the engines and keeps them; :meth:`run` is its task. ``engines`` is there once all are proven."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.engines: Engines | None = None
        self.failure: str | None = None
        self._settings = settings
        self._metrics = metrics
        self._states = dict.fromkeys(("vad", "stt", "llm", "tts", "bank"), "starting")
        self._watch = Watch(metrics)
        self._all_proven = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether every engine is proven, and none of our own is being started again."""
        return all(state == "ready" for state in self.readiness().values())

    def readiness(self) -> dict[str, str]:
        """Return the state of each engine, and of the bank: ``starting``, ``ready``, ``restarting``, ``failed``."""
        states = {**self._states, **self._watch.states()}
        if self.failure is None:
            return states
        return {name: state if state == "ready" else "failed" for name, state in states.items()}

    async def proven(self) -> Engines:
        """Wait until every engine has been proven; for ever when one never is."""
        await self._all_proven.wait()
        assert self.engines is not None  # noqa: S101 - set before the event
        return self.engines

    async def run(self) -> None:
        """Start, prove, and keep the engines until cancelled; what waiting cannot mend ends it with a ``failure``."""
        try:
            async with AsyncExitStack() as stack:
                self.engines = await self._start(stack)
                self._all_proven.set()
                log.info("engines_ready", profile=self._settings.profile)
                await self._watch.run()
        except (EngineError, ModelError, OSError) as error:
            self.engines, self.failure = None, str(error)
            log.error("engines_failed", reason=self.failure)

    async def _start(self, stack: AsyncExitStack) -> Engines:
        settings, language = self._settings, self._settings.language
        profile = load_lock().profile(settings.profile)
        store = Store(settings.models_dir)
        vad = SileroVoiceActivity(await asyncio.to_thread(store.path, profile, "vad"))
        self._states["vad"] = "ready"
        own = await asyncio.to_thread(OwnProcesses.of, settings, profile, store)
        self._watch.children = own.children
        await own.start(stack)
        backends = {kind: await self._opened(stack, own, kind) for kind in KINDS}
        tts = ResilientTextToSpeech(await self._kind(stack, "tts", backends["tts"], prove_tts))
        stt = ResilientSpeechToText(await self._kind(stack, "stt", backends["stt"], prove_stt))
        llm = ResilientLanguageModel(await self._kind(stack, "llm", backends["llm"], prove_llm))
        bank = await spoken_ahead(every_sentence(language), tts, settings.data_dir / "bank", self._sound(profile))
        self._states["bank"] = "ready"
        lead = Lead(settings.t1_relance_lead_ms / 1000)
        return Engines(vad, stt, llm, tts, bank, language, lead=lead)

    async def _opened(self, stack: AsyncExitStack, own: OwnProcesses, kind: Kind) -> list[Backend[Any]]:
        """Return the backends of ``kind``, open until ``stack`` is closed; nothing has been asked of them yet."""
        backends: list[Backend[Any]] = []
        for choice in self._settings.choices(kind):
            engine = await opened(choice.style, own.setup(choice), stack)
            backends.append(Backend(engine, choice.style, choice.is_own))
            self._watch.breakers[choice.name] = backends[-1].breaker
        return backends

    async def _kind(
        self, stack: AsyncExitStack, kind: Kind, backends: list[Backend[Any]], proof: Callable[..., Awaitable[object]]
    ) -> Resilience[Any]:
        """Return ``backends`` as one engine, at least one of them proven; one that is skipped is probed."""
        prove = partial(proof, language=self._settings.language)
        await self._proven(kind, backends, prove)
        if len(backends) > 1:
            for each in backends:
                probing = keep_probing(each.breaker, partial(prove, each.engine), PROBES)
                await stack.enter_async_context(alongside(probing))
        return Resilience(kind, backends, observe=self._observe)

    async def _proven(self, kind: Kind, backends: Sequence[Backend[Any]], prove: Prove) -> None:
        """Wait until one of ``backends`` has done a real inference; one that has not is skipped.

        Raises what waiting cannot mend, of any of them.
        """
        while True:
            for backend in backends:
                try:
                    await prove(backend.engine)
                except EngineError as error:
                    if not error.transient:
                        raise
                    backend.breaker.open()
                    log.warning("engine_not_ready", engine=kind, style=backend.style, reason=str(error))
                else:
                    backend.breaker.close()
                    self._states[kind] = "ready"
            if self._states[kind] == "ready":
                return
            await asyncio.sleep(ASK_AGAIN_S)

    def _sound(self, profile: Profile) -> str:
        """Return what the sound of the bank depends on: whoever speaks it now, with which model and voice."""
        choices = self._settings.choices("tts")
        asked = next((each for each in choices if not self._watch.breakers[each.name].is_open), choices[0])
        if asked.is_own:
            return f"{profile.artifacts['tts'].files[0].sha256} None {asked.voice or profile.voice}"
        return f"{asked.style} {asked.url} {asked.model} {asked.voice} {asked.options}"

    def _observe(self, attempt: Attempt) -> None:
        self._metrics.engine_attempt(attempt.engine, attempt.style, attempt.outcome, attempt.duration_s)
        level = log.debug if attempt.outcome in ("ok", "cancelled") else log.warning
        level(
            "engine_attempt",
            engine=attempt.engine,
            style=attempt.style,
            number=attempt.number,
            outcome=attempt.outcome,
            duration_s=round(attempt.duration_s, 3),
        )
