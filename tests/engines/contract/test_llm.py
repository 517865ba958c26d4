"""The contract of language models, over every style: the packet to the field, and every way in which a stream comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import httpx
import pytest

from engines.errors import EngineFault, EngineRefused, EngineTimeout, EngineTruncated, EngineUnavailable
from engines.http import Target
from engines.protocols import Delta, Message, Usage

pytestmark = pytest.mark.anyio

PROMPT = [
    Message("system", "Tu es l’examinateur."),
    Message("assistant", "Bonjour."),
    Message("user", "Bonjour !\u2028Ça va ?"),
]
SCHEMA = {"type": "object", "properties": {"max_score": {"type": "integer"}}, "required": ["max_score"]}

OPENAI_BODY = {
    "model": "some-model",
    "messages": [
        {"role": "system", "content": "Tu es l’examinateur."},
        {"role": "assistant", "content": "Bonjour."},
        {"role": "user", "content": "Bonjour !\u2028Ça va ?"},
    ],
    "max_tokens": 60,
    "temperature": 0.2,
    "stream": True,
    "stream_options": {"include_usage": True},
}
OPENAI_SCHEMA = {
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
}
GEMINI_CONFIG = {"maxOutputTokens": 60, "temperature": 0.2, "thinkingConfig": {"thinkingBudget": 0}}
GEMINI_BODY = {
    "systemInstruction": {"parts": [{"text": "Tu es l’examinateur."}]},
    "contents": [
        {"role": "model", "parts": [{"text": "Bonjour."}]},
        {"role": "user", "parts": [{"text": "Bonjour !\u2028Ça va ?"}]},
    ],
    "generationConfig": GEMINI_CONFIG,
}
GEMINI_SCHEMA = {
    "generationConfig": GEMINI_CONFIG | {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
}


def gemini_says(text: str, **more: object) -> dict:
    return {"candidates": [{"content": {"parts": [{"text": text} | more], "role": "model"}, "index": 0}]}


@dataclass(frozen=True)
class Style:
    """How one style is asked and answers."""

    name: str
    body: dict
    schema: dict
    says: Callable[[str], dict]
    thinks: dict
    usage: dict


STYLES = [
    Style(
        "openai",
        OPENAI_BODY,
        OPENAI_SCHEMA,
        lambda text: {"choices": [{"index": 0, "delta": {"content": text}}]},
        {"choices": [{"index": 0, "delta": {"reasoning_content": "Hmm."}}]},
        {
            "choices": [],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 16}},
        },
    ),
    Style(
        "gemini",
        GEMINI_BODY,
        GEMINI_SCHEMA,
        gemini_says,
        gemini_says("Hmm.", thought=True),
        {
            "candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": 20,
                "cachedContentTokenCount": 16,
                "candidatesTokenCount": 3,
                "thoughtsTokenCount": 2,
                "totalTokenCount": 25,
            },
        },
    ),
]


@pytest.fixture(params=STYLES, ids=lambda style: style.name)
def style(request: pytest.FixtureRequest) -> Style:
    return request.param


@pytest.fixture
def kind_of(lab):
    """Give the language model's kind of a style."""
    kinds = {kind.style: kind for kind in lab.KINDS if kind.name == "llm"}
    return lambda style: kinds[style.name]


def stream(lab, *data: dict | str) -> list:
    return lab.answer(lab.events(*data), kind="text/event-stream")


def begun(lab, *data: dict | str) -> list:
    """Return an answer that has begun."""
    return [lab.head(kind="text/event-stream"), *lab.chunked(lab.events(*data))]


async def ask(llm, timeout_s: float = 5, **options: object) -> list[Delta | Usage]:
    return [part async for part in llm.stream(PROMPT, max_tokens=60, timeout_s=timeout_s, **options)]


def text_of(parts: list[Delta | Usage]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Delta))


@pytest.mark.parametrize("data", ["{", "3", "[]", '{"choices": 3, "candidates": 3}', '{"error": "something"}'])
async def test_nonsense_in_the_stream_is_raised(lab, style, kind_of, data) -> None:
    """What is no chunk is not passed over: it may have held words."""
    async with lab.server(stream(lab, data)) as server, lab.engine(kind_of(style), server.base) as llm:
        with pytest.raises((EngineFault, EngineUnavailable)):
            await ask(llm)


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ({"code": 400, "message": "too long", "status": "INVALID_ARGUMENT"}, EngineRefused),
        ({"code": 500, "message": "too long", "status": "INTERNAL"}, EngineUnavailable),
        ({"code": 429, "message": "too long"}, EngineUnavailable),
        ({"message": "too long"}, EngineUnavailable),
    ],
)
async def test_an_error_in_the_stream_is_raised(lab, style, kind_of, error, raised) -> None:
    """An error object after status 200 is judged by its code; its message is not quoted."""
    async with lab.server(stream(lab, {"error": error})) as server, lab.engine(kind_of(style), server.base) as llm:
        with pytest.raises(raised) as told:
            await ask(llm)
    assert "too long" not in str(told.value)


async def test_the_request_to_the_field(lab, style, kind_of) -> None:
    """Exactly these fields, no more: an unknown one is refused by some servers."""
    async with lab.server(stream(lab, style.says("Oui."))) as server, lab.engine(kind_of(style), server.base) as llm:
        await ask(llm, temperature=0.2)
    (request,) = server.requests
    assert request.json == style.body
    assert request.path == kind_of(style).path
    assert request.headers["content-type"] == "application/json"


async def test_a_schema_is_asked_for(lab, style, kind_of) -> None:
    """A JSON Schema goes out as it is, in the style's own field; nothing else changes."""
    async with lab.server(stream(lab, style.says("{}"))) as server, lab.engine(kind_of(style), server.base) as llm:
        await ask(llm, temperature=0.2, schema=SCHEMA)
    assert server.requests[0].json == style.body | style.schema


async def test_fragments_come_as_they_are_and_usage_last(lab, style, kind_of) -> None:
    """Each fragment is a delta; what was used, and how much of it was cached, comes once and after them."""
    answer = stream(lab, style.says("Bon"), style.says("jour"), style.usage)
    async with lab.server(answer) as server, lab.engine(kind_of(style), server.base) as llm:
        assert await ask(llm) == [Delta("Bon"), Delta("jour"), Usage(20, 16, 5)]


async def test_reasoning_is_never_spoken(lab, style, kind_of) -> None:
    """Neither what is marked as reasoning nor what stands between its tags is part of the answer."""
    answer = stream(lab, style.thinks, style.says("<thi"), style.says("nk>Hmm.</think>\n"), style.says("Oui."))
    async with lab.server(answer) as server, lab.engine(kind_of(style), server.base) as llm:
        assert await ask(llm) == [Delta("Oui.")]


async def test_usage_without_text_is_a_failure(lab, style, kind_of) -> None:
    """Tokens that were counted and not given are a truncated answer, tried again; never a silent turn."""
    answer = stream(lab, style.thinks, style.usage)
    async with lab.server(answer) as server, lab.engine(kind_of(style), server.base) as llm:
        with pytest.raises(EngineTruncated, match="5 tokens counted"):
            await ask(llm)
    assert lab.outcomes == ["truncated"] * 3


async def test_a_stream_without_any_event_is_a_failure(lab, style, kind_of) -> None:
    """An answer that ends before it began is truncated."""
    empty = lab.answer(b": nothing\n\n", kind="text/event-stream")
    async with lab.server(empty) as server, lab.engine(kind_of(style), server.base) as llm:
        with pytest.raises(EngineTruncated):
            await ask(llm)


async def test_a_stream_that_is_cut_after_the_first_fragment_is_final(lab, style, kind_of) -> None:
    """What was said is kept and the failure raised: no second answer begins."""
    cut = [*begun(lab, style.says("Bonjour")), lab.CUT]
    async with lab.server(cut) as server, lab.engine(kind_of(style), server.base) as llm:
        answer = llm.stream(PROMPT, max_tokens=9, timeout_s=5)
        assert await anext(answer) == Delta("Bonjour")
        with pytest.raises((EngineTruncated, EngineUnavailable)):
            await anext(answer)
    assert len(server.requests) == 1


async def test_the_first_speakable_text_is_waited_for_in_bounds(lab, style, kind_of) -> None:
    """Reasoning and comments that go on and on do not put off the limit of the first text."""
    endless = [*begun(lab, style.thinks, style.thinks), *lab.chunked(b": ping\n\n"), lab.HANG]
    limits = lab.Limits(first_text_s=0.1)
    async with lab.server(endless) as server, lab.engine(kind_of(style), server.base, limits=limits) as llm:
        with pytest.raises(EngineTimeout):
            await ask(llm, timeout_s=60)
    assert lab.outcomes == ["timeout"] * 3


async def test_the_gap_between_tokens_is_bounded(lab, style, kind_of) -> None:
    """After the first text a silent stream is given up after the gap's limit, and the request is closed."""
    stalled = [*begun(lab, style.says("Bon")), lab.HANG]
    limits = lab.Limits(gap_s=0.1)
    async with lab.server(stalled) as server, lab.engine(kind_of(style), server.base, limits=limits) as llm:
        with pytest.raises(EngineTimeout):
            await ask(llm, timeout_s=60)
        await server.left.wait()
    assert lab.outcomes == ["timeout"]


async def test_closing_the_answer_closes_the_request(lab, style, kind_of) -> None:
    """A reader that has enough leaves no request behind."""
    talking = [*begun(lab, style.says("Bonjour")), lab.HANG]
    async with lab.server(talking) as server, lab.engine(kind_of(style), server.base) as llm:
        answer = llm.stream(PROMPT, max_tokens=9, timeout_s=60)
        assert await anext(answer) == Delta("Bonjour")
        await answer.aclose()
        await server.left.wait()
    assert lab.outcomes == ["cancelled"]


SPOKEN = "Ah, « Été »\u2028à\u0085Nîmes : 5\u202f€ \U0001f642"


async def test_a_stream_split_at_every_byte_reads_the_same(style, kind_of, mock_client) -> None:
    """Characters, line ends, events and the byte order mark may be split anywhere; U+2028 and U+0085 split nothing."""
    first, rest = (json.dumps(style.says(part), ensure_ascii=False).encode() for part in (SPOKEN[:4], SPOKEN[4:]))
    recorded = b"\xef\xbb\xbfdata: " + first + b"\r\n\r\n: ping\r\n\r\nevent: message\r\ndata:" + rest + b"\r\r"
    recorded += b"data: " + json.dumps(style.usage).encode() + b"\n\n"

    async def replay(*parts: bytes) -> list[Delta | Usage]:
        async def body():
            for part in parts:
                yield part

        answer = lambda request: httpx.Response(200, content=body(), headers={"Content-Type": "text/event-stream"})  # noqa: E731
        return await ask(kind_of(style).make(Target(mock_client(answer), "http://engine", "m")))

    for at in range(1, len(recorded)):
        parts = await replay(recorded[:at], recorded[at:])
        assert (text_of(parts), parts[-1]) == (SPOKEN, Usage(20, 16, 5)), f"split at {at}"
    assert text_of(await replay(*(bytes([byte]) for byte in recorded))) == SPOKEN


GEMINI = STYLES[1]


@pytest.mark.parametrize(
    ("thinking_tokens", "config"),
    [
        (0, {"maxOutputTokens": 60, "thinkingConfig": {"thinkingBudget": 0}}),
        (512, {"maxOutputTokens": 572, "thinkingConfig": {"thinkingBudget": 512}}),
        (None, {"maxOutputTokens": 60}),
    ],
    ids=["off", "on", "unknown to the model"],
)
async def test_gemini_thinks_beside_its_answer(lab, kind_of, thinking_tokens, config) -> None:
    """Thinking is off; where it is on, the answer keeps its own room; where it is unknown, nothing is said of it."""
    options = {"thinking_tokens": thinking_tokens}
    answer = stream(lab, GEMINI.says("Oui."))
    async with lab.server(answer) as server, lab.engine(kind_of(GEMINI), server.base, **options) as llm:
        await ask(llm)
    assert server.requests[0].json["generationConfig"] == config | {"temperature": 0.7}


async def test_gemini_has_no_system_instruction_where_there_is_none(lab, kind_of) -> None:
    """Several system messages are its parts; without any the field is not there. A model may be named with its path."""
    several = [Message("system", "Un."), Message("user", "Oui"), Message("system", "Deux.")]
    async with lab.server(stream(lab, GEMINI.says("Oui."))) as server, lab.engine(kind_of(GEMINI), server.base) as llm:
        for prompt in (several, [Message("user", "Oui")]):
            [part async for part in llm.stream(prompt, max_tokens=9, timeout_s=5)]
    first, second = (request.json for request in server.requests)
    assert first["systemInstruction"] == {"parts": [{"text": "Un."}, {"text": "Deux."}]}
    assert "systemInstruction" not in second
    assert first["contents"] == second["contents"] == [{"role": "user", "parts": [{"text": "Oui"}]}]


@pytest.mark.parametrize(
    "answer",
    [
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 20}},
        {"candidates": [{"finishReason": "SAFETY", "safetyRatings": []}]},
        {"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "PROHIBITED_CONTENT"}]},
    ],
)
async def test_gemini_that_withholds_its_answer_has_refused(lab, kind_of, answer) -> None:
    """A blocked prompt or answer is refused, by Gemini's own word, and not asked again."""
    async with lab.server(stream(lab, answer)) as server, lab.engine(kind_of(GEMINI), server.base) as llm:
        with pytest.raises(EngineRefused, match=r"withheld \([A-Z_]+\)"):
            await ask(llm)
    assert lab.outcomes == ["refused"]


async def test_gemini_that_breaks_off_keeps_what_it_said(lab, kind_of) -> None:
    """An answer that is withheld after its first text ends there."""
    answer = stream(lab, GEMINI.says("Bonjour."), {"candidates": [{"finishReason": "SAFETY"}]})
    async with lab.server(answer) as server, lab.engine(kind_of(GEMINI), server.base) as llm:
        assert await ask(llm) == [Delta("Bonjour.")]


async def test_gemini_counts_what_it_tells(lab, kind_of) -> None:
    """Usage comes with every chunk and grows: the last one counts. What is left out is none."""
    told = [GEMINI.says("Oui") | {"usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 1}}]
    told += [GEMINI.says(".") | {"usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 2}}]
    async with lab.server(stream(lab, *told)) as server, lab.engine(kind_of(GEMINI), server.base) as llm:
        assert await ask(llm) == [Delta("Oui"), Delta("."), Usage(20, 0, 2)]
