"""An address or a model that its server does not know: what is near to it and is there."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from typing import Final

from server.doctor.case import Case
from server.doctor.exchange import models_at
from server.doctor.in_force import bare

MAX_NAMES: Final = 5
"""Models that are named at most: some servers have hundreds."""

_PATHS: Final = ("/chat/completions", "/audio/transcriptions", "/audio/speech", "/models")
_HINTS: Final = {
    "gemini": ", which ends with the version (/v1beta), or the model",
    "whispercpp": ": the server is asked at its /inference",
}


async def mend_of_address(case: Case) -> str:
    """Return what to do when the address, or the model, is not known there."""
    if case.choice.style != "openai":
        return f"Correct {case.place('url')}{_HINTS.get(case.choice.style, '')}."
    if model := await mend_of_model(case):
        return model
    for base in _other_bases(case.choice.url or ""):
        if await models_at(base, case.setup.api_key) is not None:
            return f"Set {case.place('url')} to {bare(base)}: there the server answers."
    return f"Correct {case.place('url')}: it ends with /v1, and what is there does {case.choice.kind}."


async def mend_of_model(case: Case) -> str:
    """Return what to do when the server lists its models, and the one asked for is not among them; else nothing."""
    models, wanted = await models_of(case), case.choice.model or ""
    if not models or wanted in models:
        return ""
    near = difflib.get_close_matches(wanted, models, n=1, cutoff=0.5)
    there = f"the nearest that the server has is {near[0]!r}" if near else f"the server has {some(models)}"
    return f"Set {case.place('model')}: {there}, not {wanted!r}."


async def models_of(case: Case) -> tuple[str, ...]:
    """Return the models that the server lists; none where it lists none."""
    if case.choice.style != "openai" or case.choice.url is None:
        return ()
    return await models_at(case.choice.url, case.setup.api_key) or ()


def some(names: Collection[str]) -> str:
    """Return the first few names in their order, quoted."""
    shown = sorted(names)[:MAX_NAMES]
    return ", ".join(map(repr, shown)) + (", …" if len(names) > MAX_NAMES else "")


def _other_bases(url: str) -> Iterator[str]:
    """Yield the addresses that may have been meant: without an endpoint's path, and with ``/v1``."""
    base = next((url.removesuffix(path) for path in _PATHS if url.endswith(path)), url)
    if base != url:
        yield base
    if not base.endswith("/v1"):
        yield f"{base}/v1"
