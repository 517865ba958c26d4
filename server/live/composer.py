"""From a brief to the sentences that the examiner will speak: the LLM's words, split, screened by the exam's rules."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Protocol

from engines.errors import EngineError
from engines.protocols import Delta, LanguageModel, Message, Usage
from server.exam.brief import Prompt, ReplyBrief, Screen
from server.live.stages import Draft, Stages


class Splitter(Protocol):
    """Cuts a stream of text into sentences; ``server.speech.sentences`` has it."""

    def feed(self, text: str) -> list[str]:
        """Take a fragment; return the sentences that are complete now."""
        ...

    def finish(self) -> list[str]:
        """The text is over; return what is left."""
        ...


class Composer:
    """Asks the LLM, as often as the brief allows, until something is left that may be said."""

    def __init__(self, llm: LanguageModel, new_splitter: Callable[[], Splitter], timeout_s: float) -> None:
        self._llm = llm
        self._new_splitter = new_splitter
        self._timeout_s = timeout_s

    async def sentences(self, brief: ReplyBrief, stages: Draft) -> AsyncGenerator[str]:
        """Yield the sentences to speak, each as soon as it is known; at least one.

        Raises :class:`EngineError` when the LLM fails before anything was yielded; once something was, a failure ends
        the answer there.
        """
        for prompt in brief.prompts:
            said = False
            try:
                async with aclosing(self._screened(prompt, brief.new_screen(), stages)) as sentences:
                    async for sentence in sentences:
                        said = True
                        yield sentence
            except EngineError:
                if not said:
                    raise
            if said:
                return
        yield brief.fallback

    async def warm_up(self, prompt: Prompt, stages: Stages) -> None:
        """Have ``prompt`` read and one token written of no use; a failure is nobody's yet."""
        messages = [Message(role, content) for role, content in prompt.messages]
        stream = self._llm.stream(messages, max_tokens=1, temperature=0, timeout_s=self._timeout_s)
        with suppress(EngineError):
            async with aclosing(stream) as parts:
                async for part in parts:
                    if isinstance(part, Usage):
                        stages.count_tokens(part)

    async def _screened(self, prompt: Prompt, screen: Screen, stages: Draft) -> AsyncGenerator[str]:
        splitter = self._new_splitter()
        async with aclosing(self._answer(prompt, stages)) as answer:
            async for text in answer:
                for sentence in splitter.feed(text):
                    for kept in screen.feed(sentence):
                        yield kept
        for rest in splitter.finish():
            for kept in screen.feed(rest):
                yield kept
        for kept in screen.finish():
            yield kept

    async def _answer(self, prompt: Prompt, stages: Draft) -> AsyncGenerator[str]:
        messages = [Message(role, content) for role, content in prompt.messages]
        begun = stages.now()
        first = True
        stream = self._llm.stream(
            messages, max_tokens=prompt.max_tokens, temperature=prompt.temperature, timeout_s=self._timeout_s
        )
        async with aclosing(stream) as parts:
            async for part in parts:
                if isinstance(part, Usage):
                    stages.count_tokens(part)
                elif isinstance(part, Delta):
                    if first:
                        stages.since("llm_first_token", begun)
                        first = False
                    yield part.text
        stages.since("llm", begun)
