"""Language models behind ``POST {base}/models/{model}:streamGenerateContent?alt=sse``."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import httpx

from engines.answers import AnswerLimits, event_data, speakable
from engines.deadline import Deadline, unhurried
from engines.gemini.wire import Generated, answer_config, path, read_generated, refused, with_goog_key
from engines.http import Target
from engines.protocols import Delta, Message, Usage

ENGINE = "llm"

METHOD = "streamGenerateContent?alt=sse"


class GeminiLanguageModel:
    """See :class:`engines.protocols.LanguageModel`. ``thinking_tokens``: see :func:`engines.gemini.wire.answer_config`.

    An answer that is withheld before its first text is refused for good; after it, the answer ends there.
    """

    def __init__(
        self,
        target: Target,
        *,
        thinking_tokens: int | None = 0,
        limits: AnswerLimits = AnswerLimits(),  # noqa: B008  frozen
    ) -> None:
        self._target = with_goog_key(target)
        self._thinking_tokens = thinking_tokens
        self._limits = limits

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
        config = {"temperature": temperature, **answer_config(max_tokens, self._thinking_tokens)}
        if schema is not None:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
        body = {**_prompt(messages), "generationConfig": config}
        deadline = Deadline(timeout_s)
        return unhurried(self._answer(body, deadline), deadline)

    async def _answer(self, body: Mapping[str, Any], deadline: Deadline) -> AsyncGenerator[Delta | Usage]:
        first_text = Deadline(self._limits.first_text_s)
        asked = path(self._target, METHOD)
        async with (
            self._target.post(ENGINE, asked, deadline, first_text.left(), json=body) as response,
            aclosing(_chunks(response)) as chunks,
            aclosing(speakable(chunks, deadline, first_text, self._limits.gap_s)) as parts,
        ):
            async for part in parts:
                yield part


def _prompt(messages: Sequence[Message]) -> dict[str, Any]:
    """Return ``contents``, and ``systemInstruction`` if there is any, in which system messages are parts in order."""
    roles = {"user": "user", "assistant": "model"}
    said = [message for message in messages if message.role in roles]
    system = [{"text": message.content} for message in messages if message.role == "system"]
    prompt: dict[str, Any] = {"systemInstruction": {"parts": system}} if system else {}
    prompt["contents"] = [{"role": roles[each.role], "parts": [{"text": each.content}]} for each in said]
    return prompt


async def _chunks(response: httpx.Response) -> AsyncGenerator[Generated]:
    """Yield the chunks of a streamed answer; raises ``EngineRefused`` when it is withheld before its first text."""
    begun = False
    async with aclosing(event_data(response)) as events:
        async for data in events:
            chunk = read_generated(ENGINE, data)
            begun = begun or bool(chunk.text)
            if chunk.refusal and not begun:
                raise refused(ENGINE, chunk)
            yield chunk
