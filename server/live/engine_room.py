"""The engines of one server: those that the settings ask for, started, proven, and kept.

What has no address in the settings runs on this machine, as a child of this process. Nothing is called ready before it
has done one real inference. An engine elsewhere that is not there yet is asked again until it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar

import structlog
from pydantic import SecretStr

from engines.errors import EngineError, EngineMisconfigured
from engines.http import Target, open_client
from engines.local import LlamaSpec, SpeechWorkerSpec, llama, speech_worker
from engines.models import ModelError, Profile, Store, load_lock
from engines.openai.llm import OpenAILanguageModel
from engines.openai.stt import OpenAISpeechToText
from engines.openai.tts import OpenAITextToSpeech
from engines.resilience import Attempt
from engines.silero import SileroVoiceActivity
from engines.supervision import Supervised
from server.exam.bank import every_sentence
from server.live.bank import spoken_ahead
from server.live.proofs import prove_llm, prove_stt, prove_tts
from server.live.session import Engines
from server.metrics import Metrics
from server.settings import Settings

START_TIMEOUT_S = 300.0
"""A large model on a slow disk takes a minute; several times that means that something is wrong."""

ASK_AGAIN_S = 2.0
WATCH_S = 1.0

CONTEXT_TOKENS = 6144
"""Of one llama.cpp slot: the longest transcript that is evaluated, its instructions, and the report."""

T = TypeVar("T")

log = structlog.get_logger()


class EngineRoom:
    """Starts the engines and keeps them; :meth:`run` is its task. ``engines`` is there once all are proven."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.engines: Engines | None = None
        self.failure: str | None = None
        self._settings = settings
        self._metrics = metrics
        self._states = dict.fromkeys(("vad", "stt", "llm", "tts", "bank"), "starting")
        self._children: dict[str, Supervised] = {}
        self._all_proven = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether every engine is proven, and none of our own is being started again."""
        return all(state == "ready" for state in self.readiness().values())

    def readiness(self) -> dict[str, str]:
        """Return the state of each engine, and of the bank: ``starting``, ``ready``, ``restarting``, ``failed``."""
        states = {**self._states, **{name: child.state for name, child in self._children.items()}}
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
                await self._watch()
        except (EngineError, ModelError, OSError) as error:
            self.engines, self.failure = None, str(error)
            log.error("engines_failed", reason=self.failure)

    async def _start(self, stack: AsyncExitStack) -> Engines:
        settings, language = self._settings, self._settings.language
        profile = load_lock().profile(settings.profile)
        store = Store(settings.models_dir)
        vad = SileroVoiceActivity(await asyncio.to_thread(store.path, profile, "vad"))
        self._states["vad"] = "ready"
        await self._start_children(stack, profile, store)
        voice = settings.tts_voice or profile.voice
        stt = OpenAISpeechToText(self._target(stack, "stt", profile), observe=self._observe)
        tts = OpenAITextToSpeech(self._target(stack, "tts", profile), voice, observe=self._observe)
        llm = OpenAILanguageModel(self._target(stack, "llm", profile), observe=self._observe)
        greeting = await self._proven("tts", lambda: prove_tts(tts, language))
        await self._proven("stt", lambda: prove_stt(stt, language, greeting))
        await self._proven("llm", lambda: prove_llm(llm))
        sound = f"{settings.tts_url or profile.artifacts['tts'].files[0].sha256} {settings.tts_model} {voice}"
        bank = await self._proven(
            "bank", lambda: spoken_ahead(every_sentence(language), tts, settings.data_dir / "bank", sound)
        )
        return Engines(vad, stt, llm, tts, bank, language)

    async def _start_children(self, stack: AsyncExitStack, profile: Profile, store: Store) -> None:
        settings = self._settings
        if settings.stt_url is None or settings.tts_url is None:
            worker = speech_worker(await asyncio.to_thread(self._speech_spec, profile, store))
            local = {"stt": settings.stt_url is None, "tts": settings.tts_url is None}
            self._children |= {name: worker for name, is_local in local.items() if is_local}
        if settings.llm_url is None:
            self._children["llm"] = llama(await asyncio.to_thread(self._llama_spec, profile, store))
        for child in set(self._children.values()):
            await stack.enter_async_context(child.running())
        for child in set(self._children.values()):
            await child.ready(START_TIMEOUT_S)

    def _speech_spec(self, profile: Profile, store: Store) -> SpeechWorkerSpec:
        return SpeechWorkerSpec(
            stt_dir=store.path(profile, "stt"),
            tts_onnx=store.path(profile, "tts"),
            voices_bin=store.path(profile, "voices"),
            vad_onnx=store.path(profile, "vad"),
            language=self._settings.language,
            voice=self._settings.tts_voice or profile.voice,
            stt_name=profile.artifacts["stt"].name,
            tts_name=profile.artifacts["tts"].name,
            stt_threads=self._settings.stt_threads,
            tts_threads=self._settings.tts_threads,
        )

    def _llama_spec(self, profile: Profile, store: Store) -> LlamaSpec:
        return LlamaSpec(
            store.path(profile, "llm"),
            profile.artifacts["llm"].name,
            threads=self._settings.llm_threads,
            ctx=CONTEXT_TOKENS,
        )

    def _target(self, stack: AsyncExitStack, kind: str, profile: Profile) -> Target:
        base: str | None = getattr(self._settings, f"{kind}_url")
        model: str | None = getattr(self._settings, f"{kind}_model")
        key: SecretStr | None = getattr(self._settings, f"{kind}_api_key")
        is_local = base is None
        if base is None:
            base, model = self._children[kind].base_url, profile.artifacts[kind].name  # type: ignore[index]
        if model is None:
            raise EngineMisconfigured(kind, f"expected {kind}_model beside {kind}_url, there is none")
        client = open_client(base, keep_alive=not (is_local and kind == "llm"))
        stack.push_async_callback(client.aclose)
        return Target(client, base, model, key.get_secret_value() if key else None)

    async def _proven(self, name: str, proof: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                result = await proof()
            except EngineError as error:
                if not error.transient:
                    raise
                log.warning("engine_not_ready", engine=name, reason=str(error))
                await asyncio.sleep(ASK_AGAIN_S)
            else:
                self._states[name] = "ready"
                return result

    async def _watch(self) -> None:
        """Count the restarts of our own processes."""
        counted = dict.fromkeys(set(self._children.values()), 0)
        while True:
            await asyncio.sleep(WATCH_S)
            for child, before in counted.items():
                for _ in range(child.restarts - before):
                    self._metrics.process_restarted(child.name)
                counted[child] = child.restarts

    def _observe(self, attempt: Attempt) -> None:
        self._metrics.engine_attempt(attempt.engine, attempt.style, attempt.outcome, attempt.duration_s)
