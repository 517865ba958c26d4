"""The engines that this machine runs itself: what the settings give no address for, as children of the server."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from engines.local import LlamaSpec, SpeechWorkerSpec, llama, speech_worker
from engines.models import Profile, Store
from engines.setup import Kind, Setup
from engines.supervision import Supervised
from server.settings import EngineChoice, Settings
from server.settings.engines import KINDS

START_TIMEOUT_S: Final = 300.0
"""A large model on a slow disk takes a minute; several times that means that something is wrong."""

CONTEXT_TOKENS: Final = 12_288
"""Of llama.cpp, all slots together: the longest evaluation takes half of it, four long talks the other half."""

SLOTS: Final = 5
"""Talks that llama.cpp keeps: four sessions, and what asks once."""


@dataclass(frozen=True, slots=True)
class OwnProcesses:
    """The children, by the kinds that they serve: one worker is both ``stt`` and ``tts``."""

    profile: Profile
    children: dict[Kind, Supervised]

    @classmethod
    def of(
        cls, settings: Settings, profile: Profile, store: Store, kinds: frozenset[Kind] = frozenset(KINDS)
    ) -> OwnProcesses:
        """Return what ``settings`` ask for of ``kinds``, not yet running; hashes the models: not for the event loop.

        Raises :class:`engines.models.ModelError`.
        """
        kinds &= settings.own_kinds()
        children: dict[Kind, Supervised] = {}
        if speech := kinds & {"stt", "tts"}:
            children |= dict.fromkeys(speech, speech_worker(_speech_spec(settings, profile, store)))
        if "llm" in kinds:
            children["llm"] = llama(_llama_spec(settings, profile, store))
        return cls(profile, children)

    async def start(self, stack: AsyncExitStack) -> None:
        """Run the children until ``stack`` is closed; return when each has done one inference.

        Raises :class:`engines.errors.EngineError` with the last words of one that cannot run.
        """
        for child in set(self.children.values()):
            await stack.enter_async_context(child.running())
        for child in set(self.children.values()):
            await child.ready(START_TIMEOUT_S)

    def setup(self, choice: EngineChoice) -> Setup:
        """Return what an engine is made of: as it was chosen, or at the child that serves its kind."""
        url, model, options = choice.url, choice.model, choice.options
        if choice.is_own:
            url, model = self.children[choice.kind].base_url, self.profile.artifacts[choice.kind].name
            options = {"keep_alive": False, "slots": SLOTS} if choice.kind == "llm" else {}
        return Setup(
            kind=choice.kind,
            name=choice.name,
            language=self.profile.language,
            url=url,
            model=model,
            api_key=choice.api_key.get_secret_value() if choice.api_key else None,
            voice=choice.voice,
            default_voice=self.profile.voice,
            options=options,
        )


def _speech_spec(settings: Settings, profile: Profile, store: Store) -> SpeechWorkerSpec:
    return SpeechWorkerSpec(
        stt_dir=store.path(profile, "stt"),
        tts_onnx=store.path(profile, "tts"),
        voices_bin=store.path(profile, "voices"),
        vad_onnx=store.path(profile, "vad"),
        language=settings.language,
        voice=profile.voice,
        stt_name=profile.artifacts["stt"].name,
        tts_name=profile.artifacts["tts"].name,
        stt_threads=settings.stt_threads,
        tts_threads=settings.tts_threads,
        tts_rebuilt_dir=store.root / ".rebuilt" if settings.tts_graph == "fast" else None,
    )


def _llama_spec(settings: Settings, profile: Profile, store: Store) -> LlamaSpec:
    return LlamaSpec(
        store.path(profile, "llm"),
        profile.artifacts["llm"].name,
        threads=settings.llm_threads,
        ctx=CONTEXT_TOKENS,
        parallel=SLOTS,
    )
