"""Our style ``gemini`` beside Google's own client: both ask one server the same, and their requests are the same.

The server of the tests answers both, so that what it says is also known to be what the client reads.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from engines.gemini.stt import request as words_that_ask
from engines.protocols import Delta, Message, Usage

pytestmark = pytest.mark.anyio

CLIENT = Path(__file__).parent / "google_client.py"
SAMPLES = np.arange(-1600, 1600, dtype=np.int16)
SCHEMA = {"type": "object", "properties": {"max_score": {"type": "integer"}}, "required": ["max_score"]}


async def google(address: str, kind: str, question: dict) -> dict:
    """Return what Google's client understood of the server's answer."""
    pipe = asyncio.subprocess.PIPE
    command = sys.executable, str(CLIENT), address, kind
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    out, errors = await process.communicate(json.dumps(question).encode())
    assert process.returncode == 0, errors.decode()
    return json.loads(out)


def plain(value: object, name: str = "") -> object:
    """Return a request in one spelling of Protobuf's JSON, which reads several and which the client mixes.

    Names become camelCase but within a schema, base64 becomes bytes. The client gives a role to the system
    instruction, which the API does not read.
    """
    if name == "responseJsonSchema":
        return value
    if isinstance(value, dict):
        named = {re.sub(r"_(\w)", lambda found: found[1].upper(), key): each for key, each in value.items()}
        return {key: plain(each, key) for key, each in named.items() if (name, key) != ("systemInstruction", "role")}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return base64.urlsafe_b64decode(value.translate(str.maketrans("+/", "-_"))) if name == "data" else value


@pytest.fixture
def kind_of(lab):
    """Give the Gemini adapter of a kind."""
    return {kind.name: kind for kind in lab.KINDS if kind.style == "gemini"}


@pytest.fixture
def both(lab, kind_of):
    """Ask by our adapter and by Google's client; return both understandings, once the requests were found the same."""

    async def ask(kind: str, answer: list, ours, question: dict) -> tuple[object, dict]:
        async with lab.server(answer) as server, lab.engine(kind_of[kind], server.base, api_key="sk-secret") as engine:
            understood = await ours(engine)
            told = await google(server.base.removesuffix("/v1"), kind, question)
        mine, googles = server.requests
        assert (mine.method, mine.path) == (googles.method, googles.path)
        for name in ("x-goog-api-key", "content-type"):
            assert mine.headers[name] == googles.headers[name]
        assert plain(mine.json) == plain(googles.json)
        return understood, told

    return ask


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["text", "schema"])
async def test_a_streamed_answer(lab, both, schema) -> None:
    """Address, key, roles, system instruction, limits, thinking and schema are the client's, to the field."""
    messages = [("assistant", "Bonjour."), ("user", "« Ça va ? »")]
    prompt = [Message("system", "Tu es l’examinateur."), *(Message(role, text) for role, text in messages)]

    async def ours(llm) -> list:
        options = {"max_tokens": 60, "temperature": 0.2, "schema": schema, "timeout_s": 30}
        return [part async for part in llm.stream(prompt, **options)]

    used = {"promptTokenCount": 20, "cachedContentTokenCount": 16, "candidatesTokenCount": 5}
    chunks = lab.generated({"text": "Oui, "}), lab.generated({"text": "ça va."}, usageMetadata=used)
    answer = lab.answer(lab.events(*chunks), kind="text/event-stream")
    question = {"system": "Tu es l’examinateur.", "messages": messages, "max_tokens": 60, "temperature": 0.2}
    parts, told = await both("llm", answer, ours, question | {"schema": schema})
    assert parts == [Delta("Oui, "), Delta("ça va."), Usage(20, 16, 5)]
    assert told == {"text": "Oui, ça va.", "usage": [20, 16, 5]}


async def test_a_transcription(lab, both) -> None:
    """A part of text and a part of audio are the client's; so are the bytes of the file."""

    async def ours(stt) -> str:
        return (await stt.transcribe(SAMPLES, language="fr", timeout_s=30)).text

    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setparams((1, 2, 16_000, len(SAMPLES), "NONE", ""))
        wav.writeframes(SAMPLES.tobytes())
    question = {
        "wav": base64.b64encode(file.getvalue()).decode(),
        "request": words_that_ask("fr"),
        "max_tokens": 64 + 4,
    }
    text, told = await both("stt", lab.answer(lab.generated({"text": "Ça va."})), ours, question)
    assert (text, told) == ("Ça va.", {"text": "Ça va."})


async def test_speech(lab, both) -> None:
    """Modality and voice are the client's; its audio is ours."""

    async def ours(tts) -> list[int]:
        return [sample async for block in tts.speak("Bonjour.", timeout_s=30) for sample in block.tolist()]

    pcm = SAMPLES.tobytes()
    answer = lab.answer(lab.generated(lab.pcm_part(pcm)))
    samples, told = await both("tts", answer, ours, {"text": "Bonjour.", "voice": "Kore"})
    assert samples == SAMPLES.tolist()
    assert told == {"pcm": base64.b64encode(pcm).decode(), "mime_type": "audio/L16;codec=pcm;rate=24000"}
