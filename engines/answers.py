"""What every streamed answer of a language model has in common, whatever the shape of its chunks.

httpx-sse reads the stream: it splits lines at CR, LF and CRLF alone, as the standard has it, so that a U+2028 within
JSON splits nothing (httpx's own ``aiter_lines`` would).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

import httpx
from httpx_sse import EventSource

from engines.deadline import Deadline
from engines.errors import EngineTruncated
from engines.protocols import Delta, Usage
from engines.reasoning import ReasoningFilter


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """Seconds until the first speakable text, and between two tokens after it. The deadline bounds both.

    Their defaults let a small machine read a long prompt anew, and share its cores with other sessions.
    """

    first_text_s: float = 60.0
    gap_s: float = 20.0


class Chunk(Protocol):
    """One event of an answer's stream."""

    @property
    def text(self) -> str:
        """The fragment in it, which may be empty; what is marked as reasoning is left out."""
        ...

    def tokens(self) -> Usage | None:
        """Return what the request used so far, if this chunk tells."""
        ...


async def event_data(response: httpx.Response) -> AsyncGenerator[str]:
    """Yield the data of each server-sent event that has any, until the end of the file."""
    response.encoding = "utf-8-sig"  # whatever the header says: events are UTF-8 by their standard, a BOM is skipped
    async with aclosing(EventSource(response).aiter_sse()) as events:
        async for event in events:
            if event.data:
                yield event.data


async def speakable(
    chunks: AsyncGenerator[Chunk], deadline: Deadline, first_text: Deadline, gap_s: float
) -> AsyncGenerator[Delta | Usage]:
    """Yield what may be spoken of ``chunks`` as it comes, then the last usage that they told.

    The first text must come before ``first_text``, each next chunk within ``gap_s`` seconds; ``TimeoutError`` else.
    Raises :class:`engines.errors.EngineTruncated` at the end of an answer that had no text.
    """
    reasoning, usage, begun = ReasoningFilter(), None, False
    while True:
        async with deadline.within(gap_s if begun else first_text.left()):
            chunk = await anext(chunks, None)
        text = reasoning.feed(chunk.text) if chunk else reasoning.finish()
        if text:
            begun = True
            yield Delta(text)
        if chunk is None:
            break
        usage = chunk.tokens() or usage
    if not begun:
        tokens = usage.completion_tokens if usage else "no"
        raise EngineTruncated("llm", f"expected text, the answer ended with none ({tokens} tokens counted)")
    if usage:
        yield usage
