"""What the three adapters share of Gemini's wire: paths, key, configuration of thinking, and the shape of an answer.

Protobuf's JSON is lenient where ours need not be: it reads camelCase and snake_case, both alphabets of base64, and
leaves out what is empty. We send the documented names and the standard alphabet, and read both alphabets.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from engines.deadline import Deadline
from engines.errors import EngineFault, EngineRefused, EngineUnavailable
from engines.http import Target
from engines.http_errors import identifier, status_error
from engines.protocols import Usage

REFUSALS: Final = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
)
"""The ``finishReason`` of an answer that was withheld for what it says: the same request would be withheld again."""

_STANDARD_ALPHABET: Final = str.maketrans("-_", "+/")


def with_goog_key(target: Target) -> Target:
    """Return ``target`` with its key, if it has one, in Google's own header."""
    return replace(target, key_headers=lambda key: {"x-goog-api-key": key})


def path(target: Target, method: str) -> str:
    """Return the path of ``method`` (``generateContent``, ``streamGenerateContent?alt=sse``) of the target's model."""
    return f"models/{target.model.removeprefix('models/')}:{method}"


def answer_config(max_tokens: int, thinking_tokens: int | None) -> dict[str, Any]:
    """Return the part of ``generationConfig`` that bounds an answer of ``max_tokens``.

    ``thinking_tokens`` is 0 to switch thinking off, more to allow that much of it beside the answer (Gemini counts
    thoughts within ``maxOutputTokens``), ``None`` for a model that does not know the setting.
    """
    if thinking_tokens is None:
        return {"maxOutputTokens": max_tokens}
    return {
        "maxOutputTokens": max_tokens + thinking_tokens,
        "thinkingConfig": {"thinkingBudget": thinking_tokens},
    }


class _Blob(msgspec.Struct, frozen=True, rename="camel"):
    mime_type: str = ""
    data: str = ""


class _Part(msgspec.Struct, frozen=True, rename="camel"):
    text: str | None = None
    thought: bool = False
    inline_data: _Blob | None = None


class _Content(msgspec.Struct, frozen=True):
    parts: list[_Part] = []


class _Candidate(msgspec.Struct, frozen=True, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None


class _PromptFeedback(msgspec.Struct, frozen=True, rename="camel"):
    block_reason: str | None = None


class _UsageMetadata(msgspec.Struct, frozen=True, rename="camel"):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class Generated(msgspec.Struct, frozen=True, rename="camel"):
    """A ``GenerateContentResponse``, whole or one event of a stream. Unknown fields are ignored."""

    candidates: list[_Candidate] = []
    prompt_feedback: _PromptFeedback | None = None
    usage_metadata: _UsageMetadata | None = None
    error: Any = None

    @property
    def parts(self) -> list[_Part]:
        """The parts of the first candidate, thoughts left out."""
        content = self.candidates[0].content if self.candidates else None
        return [part for part in content.parts if not part.thought] if content else []

    @property
    def text(self) -> str:
        """The text of the first candidate, thoughts left out."""
        return "".join(part.text or "" for part in self.parts)

    @property
    def finish_reason(self) -> str:
        """Why the answer ended, empty while it goes on."""
        return (self.candidates and self.candidates[0].finish_reason) or ""

    @property
    def refusal(self) -> str:
        """Gemini's word for why the prompt was blocked or the answer withheld; empty when neither was."""
        blocked = self.prompt_feedback.block_reason if self.prompt_feedback else None
        return blocked or (self.finish_reason if self.finish_reason in REFUSALS else "")

    def tokens(self) -> Usage | None:
        """Return what the request used so far, thoughts included, if this tells."""
        if (told := self.usage_metadata) is None:
            return None
        answered = (told.candidates_token_count or 0) + (told.thoughts_token_count or 0)
        return Usage(told.prompt_token_count or 0, told.cached_content_token_count or 0, answered)

    def audio(self, engine: str) -> list[tuple[str, bytes]]:
        """Return mime type and bytes of each part with data; a part that is no base64 raises ``EngineFault``."""
        blobs = [part.inline_data for part in self.parts if part.inline_data]
        try:
            return [(blob.mime_type, _bytes(blob.data)) for blob in blobs]
        except (binascii.Error, ValueError) as error:
            raise EngineFault(engine, "expected audio as base64, got something else") from error


def read_generated(engine: str, body: bytes | str) -> Generated:
    """Return the answer that ``body`` holds.

    Raises :class:`engines.errors.EngineFault` when it is none, and what an error object in it stands for.
    """
    try:
        generated = msgspec.json.decode(body, type=Generated)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise EngineFault(engine, "expected an answer of generateContent, got something else") from error
    if generated.error is not None:
        raise _told_error(engine, generated.error)
    return generated


def refused(engine: str, generated: Generated) -> EngineRefused:
    """Return the error of an answer that was withheld, with Gemini's word for the reason."""
    return EngineRefused(
        engine, f"expected an answer, it was withheld ({identifier(generated.refusal) or 'no reason'})"
    )


async def generate(engine: str, target: Target, body: Mapping[str, Any], deadline: Deadline) -> Generated:
    """Return the whole answer to ``body``, by the deadline; raises :class:`engines.errors.EngineError`."""
    post = target.post(engine, path(target, "generateContent"), deadline, math.inf, json=body)
    async with post as response, deadline.within(math.inf):
        return read_generated(engine, await response.aread())


def _told_error(engine: str, error: object) -> Exception:
    """Return what an error object in an answer stands for, by its status code."""
    found = error if isinstance(error, dict) else {}
    code, status = found.get("code"), identifier(found.get("status"))
    if isinstance(code, int):
        return status_error(engine, code, status)
    return EngineUnavailable(engine, f"expected an answer, got an error in it ({status or 'no status'})")


def _bytes(data: str) -> bytes:
    standard = data.translate(_STANDARD_ALPHABET).rstrip("=")
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
