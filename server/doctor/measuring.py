"""The proofs of the engines (:mod:`engines.proofs`), each within a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from engines.errors import EngineTimeout
from engines.proofs import prove_llm, prove_stt, prove_tts
from engines.protocols import Language
from engines.setup import Kind

OVERTIME_S: Final = 1.0
"""How long after its limit an engine may still say itself that the time was up, and clean up."""

_PROOFS: Final[Mapping[Kind, Callable[[Any, Language, float], Awaitable[str]]]] = {
    "stt": prove_stt,
    "llm": prove_llm,
    "tts": prove_tts,
}


async def measured(kind: Kind, engine: Any, language: Language, limit_s: float) -> str:
    """Prove an engine of ``kind`` within ``limit_s`` seconds; return what was measured.

    Raises :class:`engines.errors.EngineError`.
    """
    try:
        async with asyncio.timeout(limit_s + OVERTIME_S):
            return await _PROOFS[kind](engine, language, limit_s)
    except TimeoutError as error:
        raise EngineTimeout(kind, "expected an answer, the time was up") from error
