"""The adapter for language models: its request to the field, and every way in which a stream can come."""

from __future__ import annotations

import json
from itertools import pairwise

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import EngineFault, EngineRefused, EngineTimeout, EngineTruncated, EngineUnavailable
from engines.http import Target
from engines.openai.llm import OpenAILanguageModel
from engines.protocols import Delta, Message, Usage
from engines.reasoning import ReasoningFilter

pytestmark = pytest.mark.anyio

PROMPT = [Message("system", "Tu es l’examinateur."), Message("user", "Bonjour")]
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}


async def ask(llm: OpenAILanguageModel, timeout_s: float = 5, **options: object) -> list[Delta | Usage]:
    return [part async for part in llm.stream(PROMPT, max_tokens=60, timeout_s=timeout_s, **options)]


def text_of(parts: list[Delta | Usage]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Delta))


def stream(lab, *data: dict | str) -> list:
    return lab.answer(lab.events(*data), kind="text/event-stream")


async def test_the_request_to_the_field(lab) -> None:
    """Exactly these fields, no more: an unknown one is refused by some servers."""
    async with lab.server(stream(lab, lab.says("Oui."))) as server, lab.engine("llm", server.base) as llm:
        await ask(llm, temperature=0.2)
    assert server.requests[0].json == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "Tu es l’examinateur."}, {"role": "user", "content": "Bonjour"}],
        "max_tokens": 60,
        "temperature": 0.2,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_a_schema_goes_out_as_a_response_format(lab) -> None:
    """A JSON Schema is asked for as OpenAI's json_schema."""
    async with lab.server(stream(lab, lab.says("{}"))) as server, lab.engine("llm", server.base) as llm:
        await ask(llm, schema=SCHEMA)
    assert server.requests[0].json["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }


async def test_fragments_come_as_they_are_and_usage_last(lab) -> None:
    """Each fragment is a delta; the usage chunk, which has no choices, comes after them, with what was cached."""
    answer = stream(lab, {"choices": [{"delta": {"role": "assistant"}}]}, lab.says("Bon"), lab.says("jour"), lab.USAGE)
    async with lab.server(answer) as server, lab.engine("llm", server.base) as llm:
        assert await ask(llm) == [Delta("Bon"), Delta("jour"), Usage(20, 16, 5)]


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"usage": {"prompt_tokens": 20, "completion_tokens": 5}}, Usage(20, 0, 5)),
        ({"usage": {"prompt_tokens": 20, "completion_tokens": 5}, "timings": {"cache_n": 7}}, Usage(20, 7, 5)),
        ({"timings": {"cache_n": 7, "prompt_n": 13, "predicted_n": 5, "predicted_ms": 1.5}}, Usage(20, 7, 5)),
        ({"usage": {"prompt_tokens": 2, "completion_tokens": 5, "prompt_tokens_details": None}}, Usage(2, 0, 5)),
    ],
    ids=["no details", "llama.cpp", "llama.cpp without usage", "null details"],
)
async def test_usage_in_other_words(lab, told, usage) -> None:
    """What was cached is told in two ways, or not at all."""
    answer = stream(lab, lab.says("Oui."), {"choices": []} | told)
    async with lab.server(answer) as server, lab.engine("llm", server.base) as llm:
        assert (await ask(llm))[-1] == usage


@pytest.mark.parametrize("status", [400, 422])
async def test_a_server_without_stream_options_is_asked_again_without_and_remembered(lab, status) -> None:
    """The second request follows at once; later ones leave the field out from the start."""
    answers = lab.answer({"error": {"code": "unknown_field"}}, status), stream(lab, lab.says("Oui."))
    async with lab.server(*answers) as server, lab.engine("llm", server.base) as llm:
        assert text_of(await ask(llm)) == "Oui."
        assert text_of(await ask(llm)) == "Oui."
    assert ["stream_options" in request.json for request in server.requests] == [True, False, False]
    assert lab.outcomes == ["ok", "ok"]


async def test_a_bad_request_for_another_reason_is_not_remembered(lab) -> None:
    """A request that is refused without stream_options too says nothing about them."""
    bad = lab.answer({"error": {"type": "exceed_context_size_error"}}, 400)
    async with lab.server(bad, bad, stream(lab, lab.says("Oui."))) as server, lab.engine("llm", server.base) as llm:
        with pytest.raises(EngineRefused, match="exceed_context_size_error"):
            await ask(llm)
        await ask(llm)
    assert ["stream_options" in request.json for request in server.requests] == [True, False, True]


async def test_usage_without_text_is_a_failure(lab) -> None:
    """Tokens that were counted and not given are a truncated answer, tried again; never a silent turn."""
    async with lab.server(stream(lab, lab.USAGE, "[DONE]")) as server, lab.engine("llm", server.base) as llm:
        with pytest.raises(EngineTruncated, match="5 tokens counted"):
            await ask(llm)
    assert lab.outcomes == ["truncated"] * 3


async def test_nothing_but_reasoning_is_a_failure(lab) -> None:
    """Reasoning, in its own field or between tags, is not an answer."""
    thought = {"choices": [{"delta": {"reasoning_content": "Hmm."}}]}
    answer = stream(lab, thought, lab.says("<think>Hmm"), lab.says("</think>\n\n"), lab.USAGE)
    async with lab.server(answer) as server, lab.engine("llm", server.base) as llm:
        with pytest.raises(EngineTruncated):
            await ask(llm)


async def test_a_stream_that_is_cut_after_the_first_fragment_is_final(lab) -> None:
    """What was said is kept and the failure raised: no second answer begins."""
    cut = [lab.head(kind="text/event-stream"), *lab.chunked(lab.events(lab.says("Bonjour"))), lab.CUT]
    async with lab.server(cut) as server, lab.engine("llm", server.base) as llm:
        answer = llm.stream(PROMPT, max_tokens=9, timeout_s=5)
        assert await anext(answer) == Delta("Bonjour")
        with pytest.raises((EngineTruncated, EngineUnavailable)):
            await anext(answer)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "prompt too long", "type": "invalid_request_error"}, EngineRefused),
        ({"message": "too long", "type": "exceed_context_size_error", "code": 400}, EngineRefused),
        ({"message": "slot died", "type": "server_error", "code": 500}, EngineUnavailable),
        ({"message": "overloaded", "code": "overloaded"}, EngineUnavailable),
        ("something", EngineUnavailable),
    ],
)
async def test_an_error_in_the_stream_is_raised(lab, error, kind) -> None:
    """An error object after status 200 is judged by its code or type; its message is not quoted."""
    async with lab.server(stream(lab, {"error": error})) as server, lab.engine("llm", server.base) as llm:
        with pytest.raises(kind) as raised:
            await ask(llm)
    assert "too long" not in str(raised.value)


@pytest.mark.parametrize("data", ["{", "3", '{"choices": 3}', '{"choices": [{"delta": {"content": [1]}}]}'])
async def test_nonsense_in_the_stream_is_a_fault(lab, data) -> None:
    """What is no chunk is raised, not passed over: it may have held words."""
    async with lab.server(stream(lab, data)) as server, lab.engine("llm", server.base) as llm:
        with pytest.raises(EngineFault):
            await ask(llm)


async def test_the_first_speakable_text_is_waited_for_in_bounds(lab) -> None:
    """Reasoning and comments that go on and on do not put off the limit of the first text."""
    drip = lab.chunked(b": ping\n\n", lab.events({"choices": [{"delta": {"reasoning_content": "Hmm"}}]}))
    endless = [lab.head(kind="text/event-stream"), *drip * 3, lab.HANG]
    limits = lab.Limits(first_text_s=0.1)
    async with lab.server(endless) as server, lab.engine("llm", server.base, limits=limits) as llm:
        with pytest.raises(EngineTimeout):
            await ask(llm, timeout_s=60)
    assert lab.outcomes == ["timeout"] * 3


async def test_the_gap_between_tokens_is_bounded(lab) -> None:
    """After the first text a silent stream is given up after the gap's limit, with what was said kept."""
    stalled = [lab.head(kind="text/event-stream"), *lab.chunked(lab.events(lab.says("Bon"))), lab.HANG]
    limits = lab.Limits(gap_s=0.1)
    async with lab.server(stalled) as server, lab.engine("llm", server.base, limits=limits) as llm:
        with pytest.raises(EngineTimeout):
            await ask(llm, timeout_s=60)
        await server.left.wait()
    assert lab.outcomes == ["timeout"]


async def test_the_whole_answer_is_bounded(lab) -> None:
    """A stream that never ends is ended by the deadline, whatever the other limits."""
    silent = [lab.head(kind="text/event-stream"), lab.HANG]
    async with lab.server(silent) as server, lab.engine("llm", server.base) as llm:
        with pytest.raises(EngineTimeout):
            await ask(llm, timeout_s=0.1)


async def test_done_ends_the_answer_of_a_server_that_keeps_the_stream_open(lab) -> None:
    """After [DONE] nothing is waited for but the end of the body, and that not for long."""
    data = lab.events(lab.says("Oui."), "[DONE]")
    kept_open = [lab.head(kind="text/event-stream"), *lab.chunked(data), lab.HANG]
    async with lab.server(kept_open) as server, lab.engine("llm", server.base) as llm:
        assert text_of(await ask(llm)) == "Oui."
        await server.left.wait()


async def test_closing_the_answer_closes_the_request(lab) -> None:
    """A reader that has enough leaves no request behind."""
    talking = [lab.head(kind="text/event-stream"), *lab.chunked(lab.events(lab.says("Bonjour"))), lab.HANG]
    async with lab.server(talking) as server, lab.engine("llm", server.base) as llm:
        answer = llm.stream(PROMPT, max_tokens=9, timeout_s=60)
        assert await anext(answer) == Delta("Bonjour")
        await answer.aclose()
        await server.left.wait()


SPOKEN = "Ah, « Été »\u2028à\u0085Nîmes : 5\u202f€ \U0001f642"
RECORDED = (
    b"\xef\xbb\xbfdata: " + json.dumps({"choices": [{"delta": {"content": "Ah, "}}]}).encode() + b"\r\n\r\n"
    + b": a comment\r\n\r\n"
    + b"event: message\r\nid: 1\r\n"
    + b"data: " + json.dumps({"choices": [{"delta": {"role": "assistant", "content": ""}}]}).encode() + b"\r\n\r\n"
    + b": ping\n\n"
    + b"data: {\"choices\":\ndata: [{\"delta\": {\"content\": \"\xc2\xab \xc3\x89t\xc3\xa9\"}}]}\n\n"
    + b"data:" + json.dumps({"choices": [{"delta": {"content": SPOKEN[9:]}}]}, ensure_ascii=False).encode() + b"\r\r"
    + b"data: " + json.dumps({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}).encode() + b"\n\n"
)  # fmt: skip


async def replay(mock_client, parts: list[bytes], kind: str = "text/event-stream") -> list[Delta | Usage]:
    async def body():
        for part in parts:
            yield part

    answer = lambda request: httpx.Response(200, content=body(), headers={"Content-Type": kind})  # noqa: E731
    return await ask(OpenAILanguageModel(Target(mock_client(answer), "http://engine", "m")))


@pytest.mark.parametrize("done", [b"data: [DONE]\n\n", b""], ids=["done", "no done"])
async def test_a_stream_split_at_every_byte_reads_the_same(mock_client, done) -> None:
    """Characters, line ends, events and the byte order mark may be split anywhere; U+2028 and U+0085 split nothing."""
    recorded = RECORDED + done
    for at in range(len(recorded) + 1):
        parts = await replay(mock_client, [part for part in (recorded[:at], recorded[at:]) if part])
        assert text_of(parts) == SPOKEN, f"split at {at}"
        assert parts[-1] == Usage(1, 0, 2)
    assert text_of(await replay(mock_client, [bytes([byte]) for byte in recorded])) == SPOKEN


async def test_events_are_utf_8_whatever_the_header_says(mock_client) -> None:
    """The standard knows no other encoding."""
    assert text_of(await replay(mock_client, [RECORDED], "text/event-stream; charset=iso-8859-1")) == SPOKEN


async def test_a_stream_split_in_real_packets(lab) -> None:
    """The same over a socket, a byte a chunk."""
    trickle = [lab.head(kind="text/event-stream"), *lab.chunked(*(bytes([byte]) for byte in RECORDED)), lab.END]
    async with lab.server(trickle) as server, lab.engine("llm", server.base) as llm:
        assert text_of(await ask(llm)) == SPOKEN


PIECES = st.lists(st.sampled_from(["<think>", "</think>", "<", "/", "think", ">", "Bonjour ", "\n", "é"]), max_size=12)


def spoken_of(answer: str) -> str:
    """What may be spoken of a whole answer: the rule, in its plainest form."""
    spoken = ""
    while "<think>" in answer:
        before, _, after = answer.partition("<think>")
        spoken += before
        answer = after.partition("</think>")[2]
    return (spoken + answer).lstrip()


@given(PIECES.map("".join), st.lists(st.integers(0, 80), max_size=10))
def test_reasoning_is_taken_out_however_it_is_split(answer: str, cuts: list[int]) -> None:
    """For any text and any fragments of it, what passes is what is outside of the tags; nothing else is lost."""
    edges = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    reasoning = ReasoningFilter()
    passed = "".join(reasoning.feed(answer[a:b]) for a, b in pairwise(edges)) + reasoning.finish()
    assert passed == spoken_of(answer)


def test_what_cannot_be_a_tag_is_not_held_back() -> None:
    """Only the beginning of a tag waits for more; « 3 < 4 » is spoken as it comes."""
    reasoning = ReasoningFilter()
    assert [reasoning.feed(part) for part in ("3 <", " 4", " <thi", "s>")] == ["3 ", "< 4", " ", "<this>"]
