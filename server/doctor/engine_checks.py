"""Where engines are put to the proof: our own processes, and every backend of each kind, primaries and fallbacks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

import numpy as np

from engines.errors import EngineError, EngineTimeout
from engines.setup import Kind
from engines.styles import opened
from engines.supervision import Supervised
from server.doctor.case import Case
from server.doctor.exchange import NotedSetup, noted
from server.doctor.findings import fault, not_checked, ok
from server.doctor.in_force import bare, place
from server.doctor.last_words import last_words
from server.doctor.measuring import measured
from server.doctor.mends import mend, mend_of_opening
from server.doctor.model_files import ModelFiles
from server.doctor.report import Report
from server.live.own_processes import START_TIMEOUT_S, OwnProcesses
from server.settings import EngineChoice

NAMES = {"speech": "speech worker", "llm": "llama.cpp"}
"""What people call a child, by its name among engines."""


class EngineChecks:
    """Tells ``report`` of each engine in turn. Inferences are given ``limit_s`` seconds each.

    ``blocked`` tells of which kinds our own process was not started, and what has to be mended first.
    """

    def __init__(
        self, files: ModelFiles, own: OwnProcesses, blocked: Mapping[Kind, str], limit_s: float, report: Report
    ) -> None:
        self._files = files
        self._own = own
        self._blocked = blocked
        self._limit_s = limit_s
        self._report = report

    async def start(self, stack: AsyncExitStack) -> None:
        """Start our own processes, all at once, until ``stack`` is closed; tell of each when it is ready or is dead."""
        children = sorted(set(self._own.children.values()), key=lambda child: child.name)
        begun = time.monotonic()
        for child in children:
            await stack.enter_async_context(child.running())
        for child in children:
            await self._await(child, begun)

    async def check(self, choice: EngineChoice) -> None:
        """Make the engine as the server would, have it do one inference, tell what came of it."""
        if choice.is_own and (why := self._not_running(choice.kind)):
            self._report.tell(not_checked(choice.name, why))
            return
        setup = noted(self._own.setup(choice))
        with self._report.doing(f"{choice.name}: one inference"):
            async with AsyncExitStack() as stack:
                try:
                    engine = await opened(choice.style, setup, stack)
                except EngineError as error:
                    case = Case(choice, setup, error, self._limit_s)
                    self._report.tell(fault(choice.name, _message(error), await mend_of_opening(case)))
                    return
                try:
                    figures = await measured(choice.kind, engine, setup.language, self._limit_s)
                except EngineError as error:
                    await self._tell_fault(choice, setup, error)
                    return
        self._report.tell(ok(choice.name, f"{choice.style}, {_where(choice)}: {figures}"))

    def _not_running(self, kind: Kind) -> str:
        """Return why our own process for ``kind`` cannot be asked; nothing when it can."""
        if kind in self._blocked:
            return self._blocked[kind]
        child = self._own.children[kind]
        return "" if child.state == "ready" else f"{NAMES[child.name]} does not run"

    async def _await(self, child: Supervised, begun: float) -> None:
        name = NAMES[child.name]
        try:
            with self._report.doing(f"{name}: starting"):
                await child.ready(START_TIMEOUT_S)
        except EngineError as error:
            self._report.tell(fault(name, _message(error), _mend_of_child(error)))
        else:
            self._report.tell(ok(name, f"ready after {time.monotonic() - begun:.1f} s"))

    async def _tell_fault(self, choice: EngineChoice, setup: NotedSetup, error: EngineError) -> None:
        told = _message(error)
        if choice.style == "piper" and not choice.is_own and not isinstance(error, EngineTimeout):
            told = await self._with_last_words(told, choice)
        case = Case(choice, setup, error, self._limit_s, self._voices(choice))
        self._report.tell(fault(choice.name, told, await mend(case)))

    async def _with_last_words(self, told: str, choice: EngineChoice) -> str:
        try:
            said = await last_words(choice.options["command"], self._limit_s)
        except OSError:  # there is no such program, which is told already
            return told
        return f"{told}; its last words: {said}" if said else told

    def _voices(self, choice: EngineChoice) -> Sequence[str]:
        """Return the voices of our own worker, for an engine that is that."""
        if not choice.is_own or choice.kind != "tts":
            return ()
        with np.load(self._files.store.path(self._files.profile, "voices")) as voices:
            return tuple(voices.files)


def _message(error: EngineError) -> str:
    """Return the error without the engine's name in front, and without a full stop."""
    return str(error).removeprefix(f"{error.engine}: ").rstrip(".")


def _where(choice: EngineChoice) -> str:
    if choice.is_own:
        return "own process"
    return bare(choice.url) if choice.url else "a process of its style"


def _mend_of_child(error: EngineError) -> str:
    message = str(error)
    if isinstance(error, EngineTimeout):
        return f"Free the processor of other work, or take a smaller profile ({place('profile')})."
    if "signal 9" in message:
        return f"Most likely the memory was full: free some, or take a smaller profile ({place('profile')})."
    if "code 78" in message:
        return "Mend what it names, or install relance anew with make setup."
    return "Install relance anew with make setup."
