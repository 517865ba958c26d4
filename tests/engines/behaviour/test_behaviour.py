"""The contract of each kind, kept by every adapter over real models: ours, and one of another package."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from engines.contract import check_llm, check_stt, check_tts
from engines.styles import OURS, opened

pytestmark = pytest.mark.anyio

CHECKS = {"stt": check_stt, "llm": check_llm, "tts": check_tts}


@pytest.mark.parametrize("setup", [*OURS, ("stt", "acme")], ids="-".join, indirect=True)
async def test_every_style_keeps_the_contract(setup, request) -> None:
    """Made of its settings, over a real engine: what it gives, when it gives up, how it is cancelled."""
    _, style = request.node.callspec.params["setup"]
    async with AsyncExitStack() as stack:
        await CHECKS[setup.kind](await opened(style, setup, stack), "en")
