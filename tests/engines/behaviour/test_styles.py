"""Choosing a style: wrong settings are told by name, with what is nearest; other packages add theirs."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack

import pytest

from engines.errors import EngineMisconfigured
from engines.setup import Setup
from engines.styles import opened

pytestmark = pytest.mark.anyio

AT = {"url": "http://127.0.0.1:9/v1", "model": "m"}


@pytest.mark.parametrize(
    ("kind", "style", "given", "told"),
    [
        ("stt", "opneai", {}, "stt: unknown style 'opneai'; the nearest is 'openai'"),
        ("llm", "piper", {}, "llm: unknown style 'piper'; there are failing, gemini, openai"),
        ("stt", "Whispercpp", {}, "the nearest is 'whispercpp'"),
        ("stt", "openai", {}, "stt: this style needs stt_url, and there is none"),
        ("stt", "openai", {"url": "http://127.0.0.1:9/v1"}, "stt: this style needs stt_model, and there is none"),
        ("tts", "gemini", AT, "tts: this style needs tts_voice, and there is none"),
        ("tts", "piper", {}, "tts: this style needs a command in tts_options, and there is none"),
        (
            "llm",
            "openai",
            AT | {"options": {"keep_alife": 1}},
            "unknown option 'keep_alife'; the nearest is 'keep_alive'",
        ),
        ("llm", "openai", AT | {"options": {"keep_alive": "yes"}}, "llm_options: Expected `bool`, got `str`"),
        ("tts", "piper", {"options": {"command": "piper"}}, "tts_options: Expected `array`, got `str`"),
        ("stt", "whispercpp", AT | {"options": {"x": 1}}, "stt_options: unknown option 'x'; there is none"),
        ("llm", "gemini", {"url": "ftp://host", "model": "m"}, "expected an http or https address"),
        ("stt", "absent", {}, "cannot be loaded from acme_no_such_module:speech_to_text: ModuleNotFoundError"),
        ("llm", "failing", {}, "the style 'failing' cannot be used: RuntimeError: no licence found"),
        ("stt", "acme", {"options": {"model_path": "/"}}, "unknown option 'model_path'; the nearest is 'model_dir'"),
    ],
)
async def test_a_wrong_setting_is_told_in_one_line(acme, kind, style, given, told) -> None:
    """Which setting, and what was expected of it."""
    async with AsyncExitStack() as stack:
        with pytest.raises(EngineMisconfigured, match=re.escape(told)) as raised:
            await opened(style, Setup(kind=kind, name=kind, language="en", **given), stack)
    assert "\n" not in str(raised.value)


def test_a_setup_shows_no_secret() -> None:
    """Neither the key nor the options, which may hold one."""
    setup = Setup(kind="stt", name="stt", language="en", api_key="hunter2", options={"token": "hunter2"})
    assert "hunter2" not in repr(setup)
