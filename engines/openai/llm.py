"""Language models behind ``POST {base}/chat/completions``, streamed as server-sent events.

A file that ends without ``[DONE]`` ends the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, nullcontext, suppress
from typing import Any

import httpx

from engines.answers import AnswerLimits, event_data, speakable
from engines.deadline import Deadline, unhurried
from engines.http import Target
from engines.http_errors import EngineBadRequest
from engines.openai.chunks import Chunk, read_chunk
from engines.openai.slots import Slots
from engines.protocols import Delta, Message, Usage

ENGINE = "llm"

PATH = "chat/completions"

DRAIN_S = 0.2
"""How long the end of the body is waited for after ``[DONE]``: once it was read, the connection can be used again."""

_WITH_USAGE = {"stream_options": {"include_usage": True}}


class OpenAILanguageModel:
    """See :class:`engines.protocols.LanguageModel`. Whether the server knows ``stream_options`` is remembered.

    ``slots`` is how many slots a llama.cpp server has, for requests to be sent to the slot that knows their beginning;
    0 for any other server.
    """

    def __init__(
        self,
        target: Target,
        *,
        limits: AnswerLimits = AnswerLimits(),  # noqa: B008  frozen
        slots: int = 0,
    ) -> None:
        self._target = target
        self._limits = limits
        self._slots = Slots(slots) if slots else None
        self._counts_usage = True

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.7,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float,
    ) -> AsyncGenerator[Delta | Usage]:
        """Yield the answer's fragments as they come, then its usage if it is told."""
        body: dict[str, Any] = {
            "model": self._target.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "stream": True,
        }
        if schema is not None:
            named = {"name": "answer", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        deadline = Deadline(timeout_s)
        return unhurried(self._in_its_slot(messages, body, deadline), deadline)

    async def _in_its_slot(
        self, messages: Sequence[Message], body: dict[str, Any], deadline: Deadline
    ) -> AsyncGenerator[Delta | Usage]:
        is_form = "response_format" in body  # an evaluation: nobody hears it being made
        with self._slots.taken(messages, in_background=is_form) if self._slots else nullcontext() as slot:
            asked = body if slot is None else body | {"id_slot": slot}
            async with aclosing(self._answer(asked, deadline)) as parts:
                async for part in parts:
                    yield part

    async def _answer(self, body: dict[str, Any], deadline: Deadline) -> AsyncGenerator[Delta | Usage]:
        first_text = Deadline(self._limits.first_text_s)
        async with (
            self._opened(body, deadline, first_text) as response,
            aclosing(_chunks(response)) as chunks,
            aclosing(speakable(chunks, deadline, first_text, self._limits.gap_s)) as parts,
        ):
            async for part in parts:
                yield part

    @asynccontextmanager
    async def _opened(
        self, body: dict[str, Any], deadline: Deadline, first_text: Deadline
    ) -> AsyncIterator[httpx.Response]:
        """Give the answer, its head read; asked again at once without ``stream_options`` if refused for them."""
        asked = self._counts_usage
        async with AsyncExitStack() as stack:
            try:
                post = self._target.post(
                    ENGINE, PATH, deadline, first_text.left(), json=body | _WITH_USAGE if asked else body
                )
                response = await stack.enter_async_context(post)
            except EngineBadRequest:
                if not asked:
                    raise
                post = self._target.post(ENGINE, PATH, deadline, first_text.left(), json=body)
                response = await stack.enter_async_context(post)
                self._counts_usage = False
            yield response


async def _chunks(response: httpx.Response) -> AsyncGenerator[Chunk]:
    """Yield the chunks of a streamed answer until ``[DONE]`` or the end of the file."""
    async with aclosing(event_data(response)) as events:
        async for data in events:
            if data == "[DONE]":
                break
            yield read_chunk(data)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                async for _ in events:
                    pass
