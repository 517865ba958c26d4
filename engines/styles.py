"""The styles of each kind of engine, and how one is made: ours, and those of installed packages.

A package adds a style by an entry point of the group ``relance.engines``, named ``KIND.STYLE``, whose object is a
:data:`Factory`::

    [project.entry-points."relance.engines"]
    "stt.acme" = "acme.relance:speech_to_text"
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import msgspec

from engines.errors import EngineError, EngineMisconfigured
from engines.gemini.llm import GeminiLanguageModel
from engines.gemini.stt import GeminiSpeechToText
from engines.gemini.tts import GeminiTextToSpeech
from engines.openai.llm import OpenAILanguageModel
from engines.openai.stt import OpenAISpeechToText
from engines.openai.tts import OpenAITextToSpeech
from engines.piper.tts import PiperTextToSpeech
from engines.protocols import LanguageModel, SpeechToText, TextToSpeech
from engines.setup import Kind, NoOptions, Setup, nearest
from engines.whispercpp import WhisperCppSpeechToText

GROUP: Final = "relance.engines"

Factory = Callable[[Setup], AbstractAsyncContextManager[Any]]
"""Gives the adapter of a kind for the length of an ``async with``: one attempt a call, within its ``timeout_s``.

Raises :class:`engines.errors.EngineMisconfigured` for settings that it cannot work with.
"""


class OpenAILlmOptions(msgspec.Struct, frozen=True):
    """``keep_alive``: whether connections are used again; llama.cpp's cannot be. ``slots``: how many llama.cpp has."""

    keep_alive: bool = True
    slots: int = 0


class OpenAITtsOptions(msgspec.Struct, frozen=True):
    """``speed``: 0.5 to 2."""

    speed: float = 1.0


class GeminiOptions(msgspec.Struct, frozen=True):
    """``thinking_tokens``: 0 for none; null for a model that does not know the setting."""

    thinking_tokens: int | None = 0


class PiperOptions(msgspec.Struct, frozen=True):
    """``command``: the argument list of a process that speaks piper's JSON lines."""

    command: list[str] = []


@asynccontextmanager
async def _openai_stt(setup: Setup) -> AsyncIterator[SpeechToText]:
    setup.read_options(NoOptions)
    async with setup.target() as target:
        yield OpenAISpeechToText(target)


@asynccontextmanager
async def _openai_llm(setup: Setup) -> AsyncIterator[LanguageModel]:
    options = setup.read_options(OpenAILlmOptions)
    async with setup.target(keep_alive=options.keep_alive) as target:
        yield OpenAILanguageModel(target, slots=options.slots)


@asynccontextmanager
async def _openai_tts(setup: Setup) -> AsyncIterator[TextToSpeech]:
    options = setup.read_options(OpenAITtsOptions)
    async with setup.target() as target:
        yield OpenAITextToSpeech(target, setup.voice or setup.default_voice or "", speed=options.speed)


@asynccontextmanager
async def _gemini_stt(setup: Setup) -> AsyncIterator[SpeechToText]:
    options = setup.read_options(GeminiOptions)
    async with setup.target() as target:
        yield GeminiSpeechToText(target, thinking_tokens=options.thinking_tokens)


@asynccontextmanager
async def _gemini_llm(setup: Setup) -> AsyncIterator[LanguageModel]:
    options = setup.read_options(GeminiOptions)
    async with setup.target() as target:
        yield GeminiLanguageModel(target, thinking_tokens=options.thinking_tokens)


@asynccontextmanager
async def _gemini_tts(setup: Setup) -> AsyncIterator[TextToSpeech]:
    setup.read_options(NoOptions)
    async with setup.target() as target:
        yield GeminiTextToSpeech(target, setup.required("voice"))


@asynccontextmanager
async def _whispercpp(setup: Setup) -> AsyncIterator[SpeechToText]:
    setup.read_options(NoOptions)
    async with setup.target(needs_model=False) as target:
        yield WhisperCppSpeechToText(target)


@asynccontextmanager
async def _piper(setup: Setup) -> AsyncIterator[TextToSpeech]:
    command = setup.read_options(PiperOptions).command
    if not command:
        raise EngineMisconfigured(setup.kind, f"this style needs a command in {setup.name}_options, and there is none")
    program = sys.executable if command[0] == "python" else command[0]  # ours, whatever "python" the path has first
    async with aclosing(PiperTextToSpeech([program, *command[1:]], speaker=setup.voice)) as tts:
        yield tts


OURS: Final[Mapping[tuple[Kind, str], Factory]] = {
    ("stt", "openai"): _openai_stt,
    ("stt", "gemini"): _gemini_stt,
    ("stt", "whispercpp"): _whispercpp,
    ("llm", "openai"): _openai_llm,
    ("llm", "gemini"): _gemini_llm,
    ("tts", "openai"): _openai_tts,
    ("tts", "gemini"): _gemini_tts,
    ("tts", "piper"): _piper,
}


def factory(kind: Kind, style: str) -> Factory:
    """Return what makes an engine of ``kind`` in ``style``; ours go before those of packages.

    Raises :class:`engines.errors.EngineMisconfigured` for a style that there is not, or whose package fails to load.
    """
    if ours := OURS.get((kind, style)):
        return ours
    found = {entry.name.partition(".")[2]: entry for entry in _entry_points(kind)}
    if style not in found:
        known = [*(name for of_kind, name in OURS if of_kind == kind), *found]
        raise EngineMisconfigured(kind, f"unknown style {style!r}{nearest(style, known)}")
    return _loaded(kind, found[style])


async def opened(style: str, setup: Setup, stack: AsyncExitStack) -> Any:
    """Return the engine that ``setup`` describes, of its kind's protocol; closing ``stack`` closes it.

    Raises :class:`engines.errors.EngineMisconfigured`, also where the factory of a package fails in its own way.
    """
    make = factory(setup.kind, style)
    try:
        return await stack.enter_async_context(make(setup))
    except EngineError:
        raise
    except Exception as error:
        message = f"the style {style!r} cannot be used: {type(error).__name__}: {error}"
        raise EngineMisconfigured(setup.kind, message) from error


def _entry_points(kind: Kind) -> Iterator[EntryPoint]:
    return (entry for entry in entry_points(group=GROUP) if entry.name.startswith(f"{kind}."))


def _loaded(kind: Kind, entry: EntryPoint) -> Factory:
    try:
        loaded: Factory = entry.load()
    except Exception as error:  # whatever a package does when it is imported
        message = f"the style {entry.name!r} cannot be loaded from {entry.value}: {type(error).__name__}: {error}"
        raise EngineMisconfigured(kind, message) from error
    return loaded
