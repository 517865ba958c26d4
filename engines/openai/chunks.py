"""The chunks of a streamed chat completion, as far as they matter here. Unknown fields are ignored."""

from __future__ import annotations

from typing import Any

import msgspec

from engines.errors import EngineFault, EngineRefused, EngineUnavailable
from engines.http_errors import identifier, status_error
from engines.protocols import Usage


class _Delta(msgspec.Struct, frozen=True):
    content: str | None = None  # ``reasoning_content`` beside it is not for the candidate


class _Choice(msgspec.Struct, frozen=True):
    delta: _Delta | None = None


class _PromptDetails(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _PromptDetails | None = None


class _Timings(msgspec.Struct, frozen=True):
    """llama.cpp's own count: ``cache_n`` tokens of the prompt were in its cache, ``prompt_n`` were read anew."""

    cache_n: int = 0
    prompt_n: int = 0
    predicted_n: int = 0


class Chunk(msgspec.Struct, frozen=True):
    """One event of the stream."""

    choices: list[_Choice] = []
    usage: _Usage | None = None
    timings: _Timings | None = None
    error: Any = None

    @property
    def text(self) -> str:
        """The fragment of the first choice, reasoning excluded."""
        delta = self.choices[0].delta if self.choices else None
        return (delta and delta.content) or ""

    def tokens(self) -> Usage | None:
        """Return what the request used, if this chunk tells."""
        if self.usage is None:
            if (timings := self.timings) is None:
                return None
            return Usage(timings.cache_n + timings.prompt_n, timings.cache_n, timings.predicted_n)
        details = self.usage.prompt_tokens_details
        cached = details.cached_tokens if details else None
        if cached is None:
            cached = self.timings.cache_n if self.timings else 0
        return Usage(self.usage.prompt_tokens, cached, self.usage.completion_tokens)


def read_chunk(data: str) -> Chunk:
    """Return the chunk that ``data``, the data of one event, holds.

    Raises :class:`engines.errors.EngineFault` when it is no chunk, and what an error object in it stands for.
    """
    try:
        chunk = msgspec.json.decode(data, type=Chunk)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise EngineFault("llm", "expected a chat completion chunk, got something else") from error
    if chunk.error is not None:
        raise _stream_error(chunk.error)
    return chunk


def _stream_error(error: object) -> Exception:
    """Return what an error object within a stream stands for: by its status where it has one, else by its type."""
    found = error if isinstance(error, dict) else {}
    code, kind = found.get("code"), identifier(found.get("type"))
    if isinstance(code, int):
        return status_error("llm", code, kind)
    told = identifier(code) or kind or "no code"
    if kind == "invalid_request_error":
        return EngineRefused("llm", f"expected an answer, got an error in the stream ({told})")
    return EngineUnavailable("llm", f"expected an answer, got an error in the stream ({told})")
