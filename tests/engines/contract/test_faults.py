"""What every adapter that speaks HTTP does when its server fails: one suite over all kinds and styles."""

from __future__ import annotations

import asyncio
import gzip
import time
from email.utils import formatdate

import httpx
import pytest

from engines.errors import (
    EngineError,
    EngineFault,
    EngineMisconfigured,
    EngineRefused,
    EngineTimeout,
    EngineTruncated,
    EngineUnavailable,
)
from engines.http import MAX_ANSWER_BYTES, Target, open_client
from engines.http_errors import EngineAbsent, engine_error

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422])
async def test_a_refusal_is_permanent(lab, kind, status) -> None:
    """A status that says never is raised with the server's own word, and the same request is not made again."""
    refusal = lab.answer({"error": {"message": "No such model for key sk-1", "code": "model_not_found"}}, status)
    async with lab.server(refusal) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineRefused, match=rf"{kind.name}: expected status 200, got {status} \(model_not_found\)"):
            await kind.ask(engine, 5)
    assert lab.outcomes == ["refused"]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 504])
async def test_a_transient_status_is_tried_three_times(lab, kind, status) -> None:
    """A status that says not now is tried three times in all, then raised."""
    async with lab.server(lab.answer(b"busy", status)) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineUnavailable, match=f"got {status}"):
            await kind.ask(engine, 5)
    assert lab.outcomes == ["unavailable"] * 3
    assert [attempt.number for attempt in lab.attempts] == [1, 2, 3]


async def test_one_fault_costs_one_try(lab, kind) -> None:
    """A 500, once, is not seen by the caller; both attempts are told, with engine and style."""
    async with lab.server(lab.answer(b"", 500), kind.good) as server, lab.engine(kind, server.base) as engine:
        assert await kind.ask(engine, 5) == kind.heard
    assert [(each.engine, each.style, each.outcome) for each in lab.attempts] == [
        (kind.name, kind.style, "unavailable"),
        (kind.name, kind.style, "ok"),
    ]


async def test_a_process_of_our_own_that_is_being_started_is_waited_for(lab, kind) -> None:
    """Refused connections, and 503 while it loads, are tried as long as the deadline allows: well over three times."""
    port, refused = lab.free_port(), asyncio.Event()

    def observe(attempt) -> None:
        lab.attempts.append(attempt)
        if attempt.number == 8:
            refused.set()

    async with lab.engine(kind, f"http://127.0.0.1:{port}/v1", observe=observe, is_own=True) as engine:
        asked = asyncio.create_task(kind.ask(engine, 20))
        await refused.wait()
        loading = [lab.answer({"error": {"message": "Loading model"}}, 503)] * 5
        async with lab.server(*loading, kind.good, port=port):
            assert await asked == kind.heard
    assert lab.outcomes.count("unavailable") >= 8 + 5
    assert lab.outcomes[-1] == "ok"


async def test_a_process_of_our_own_that_never_comes_is_given_up_at_the_deadline(lab, kind) -> None:
    """With nothing listening the deadline ends the tries, between two or within the last; the error is transient."""
    async with lab.engine(kind, f"http://127.0.0.1:{lab.free_port()}/v1", is_own=True) as engine:
        begun = time.monotonic()
        with pytest.raises((EngineAbsent, EngineTimeout)):
            await kind.ask(engine, 0.2)
    assert set(lab.outcomes[:-1]) == {"unavailable"}
    assert time.monotonic() - begun < 2
    assert len(lab.attempts) > 3


async def test_a_server_elsewhere_that_is_not_there_has_three_tries(lab, kind) -> None:
    """Nobody starts it again for us: a refused connection, or a 503, is a fault like any other."""
    async with lab.engine(kind, f"http://127.0.0.1:{lab.free_port()}/v1") as engine:
        with pytest.raises(EngineAbsent):
            await kind.ask(engine, 20)
    async with lab.server(lab.answer(b"", 503)) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineAbsent):
            await kind.ask(engine, 20)
    assert lab.outcomes == ["unavailable"] * 6


async def test_a_server_that_accepts_and_is_silent_times_out(lab, kind) -> None:
    """An open connection on which nothing comes ends at the deadline, and is closed."""
    async with lab.server([lab.HANG]) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineTimeout):
            await kind.ask(engine, 0.2)
        await server.left.wait()
    assert lab.outcomes == ["timeout"]


async def test_a_head_without_a_body_times_out(lab, kind) -> None:
    """Headers and then silence end at the deadline as well."""
    silent = [lab.head(200, kind.content_type), lab.HANG]
    async with lab.server(silent) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineTimeout):
            await kind.ask(engine, 0.2)
        await server.left.wait()


async def test_an_error_without_a_body_times_out(lab, kind) -> None:
    """The body of an error is waited for no longer than an answer is."""
    async with lab.server([lab.head(500), lab.HANG]) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineTimeout):
            await kind.ask(engine, 0.2)


async def test_a_connection_that_breaks_before_the_answer_is_tried_again(lab, kind) -> None:
    """A reset, as when the worker dies in the middle, costs one try."""
    async with lab.server([lab.CUT], kind.good) as server, lab.engine(kind, server.base) as engine:
        assert await kind.ask(engine, 5) == kind.heard
    assert len(lab.attempts) == 2


async def test_an_answer_of_another_type_is_a_fault(lab, kind) -> None:
    """A page of HTML with status 200 (a proxy's) is nonsense, tried again and then raised."""
    page = lab.answer(b"<html>Bonjour</html>", kind="text/html")
    async with lab.server(page) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineFault):
            await kind.ask(engine, 5)
    assert lab.outcomes == ["fault"] * 3


async def test_cancelling_closes_the_request(lab, kind) -> None:
    """A cancelled caller leaves no request behind, and nothing is tried again."""
    async with lab.server([lab.HANG]) as server, lab.engine(kind, server.base) as engine:
        task = asyncio.create_task(kind.ask(engine, 60))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.left.wait()
    assert lab.outcomes == ["cancelled"]


@pytest.mark.parametrize("header", ["0", formatdate(usegmt=True)], ids=["seconds", "date"])
async def test_retry_after_is_obeyed(lab, kind, header) -> None:
    """A wait that the server asks for, in seconds or as a date, takes the place of our own."""
    busy = lab.answer(b"", 429, Retry_After=header)
    patient = lab.FAST.__class__(wait_initial_s=30, wait_max_s=30)
    async with lab.server(busy, kind.good) as server, lab.engine(kind, server.base, rules=patient) as engine:
        assert await kind.ask(engine, 25) == kind.heard


async def test_a_wait_told_in_googles_way_is_obeyed(lab, kind) -> None:
    """A ``RetryInfo`` in the body of the error counts as the header does."""
    told = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0s"}
    error = {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": [{"reason": "x"}, told]}
    patient = lab.FAST.__class__(wait_initial_s=30, wait_max_s=30)
    busy = lab.answer({"error": error}, 429)
    async with lab.server(busy, kind.good) as server, lab.engine(kind, server.base, rules=patient) as engine:
        assert await kind.ask(engine, 25) == kind.heard


@pytest.mark.parametrize(
    ("details", "asked"),
    [
        ([{"retryDelay": "34.07s"}], 35.0),
        ([{"retryDelay": "-1s"}], None),
        ([{"retryDelay": 3}, "x"], None),
        ([{"retryDelay": "1e999s"}], None),
        ({"retryDelay": "3s"}, None),
        (None, None),
    ],
)
async def test_a_senseless_wait_is_none(details, asked) -> None:
    """What is no duration in Google's form is passed over, a fraction is rounded up."""
    answer = httpx.Response(429, json={"error": {"status": "RESOURCE_EXHAUSTED", "details": details}})
    error = engine_error("llm", answer)
    assert error.retry_after_s == asked
    assert "RESOURCE_EXHAUSTED" in str(error)


@pytest.mark.parametrize(
    ("asked", "timeout_s"), [("11", 60), ("5", 3)], ids=["beyond the bound", "beyond the deadline"]
)
async def test_a_retry_after_that_is_too_long_ends_the_tries(lab, kind, asked, timeout_s) -> None:
    """A wait beyond the bound, or beyond what is left, is not begun: the caller learns at once what was asked."""
    busy = lab.answer(b"", 503, Retry_After=asked)
    async with lab.server(busy) as server, lab.engine(kind, server.base) as engine:
        begun = time.monotonic()
        with pytest.raises(EngineUnavailable) as raised:
            await kind.ask(engine, timeout_s)
    assert raised.value.retry_after_s == float(asked)
    assert time.monotonic() - begun < 2


async def test_the_key_is_sent_and_never_shown(lab, kind) -> None:
    """A key goes out in the header of its style, and is in no representation and no error."""
    async with lab.server(kind.good, lab.answer({"error": {"code": "sk secret"}}, 401)) as server:
        async with lab.engine(kind, server.base, api_key="sk-secret") as engine:
            await kind.ask(engine, 5)
            with pytest.raises(EngineRefused) as raised:
                await kind.ask(engine, 5)
        async with open_client(server.base) as client:
            assert "sk-secret" not in repr(Target(client, server.base, "m", "sk-secret"))
    name, value = kind.key_header
    assert server.requests[0].headers[name] == value
    assert "secret" not in str(raised.value)


async def test_no_key_no_header(lab, kind) -> None:
    """Without a key there is no header for one, and the request goes where it should."""
    async with lab.server(kind.good) as server, lab.engine(kind, server.base + "/") as engine:
        await kind.ask(engine, 5)
    (request,) = server.requests
    assert not {"authorization", "x-goog-api-key"} & request.headers.keys()
    assert (request.method, request.path) == ("POST", kind.path)


async def test_a_bug_of_ours_is_neither_hidden_nor_tried_again(lab, kind, mock_client) -> None:
    """An error that no engine raises goes through as it is."""

    def broken(request: httpx.Request) -> httpx.Response:
        raise ZeroDivisionError

    adapter = kind.make(Target(mock_client(broken), "http://engine", "m"))
    with pytest.raises(ZeroDivisionError):
        await kind.ask(lab.resilient(kind.name, kind.style, adapter), 5)
    assert lab.outcomes == ["bug"]


@pytest.mark.parametrize("base", ["", "engine:8000", "ftp://engine", "/v1"])
async def test_an_address_that_cannot_be_asked_is_a_wrong_setting(base) -> None:
    """No client is made for an address that is not http or https."""
    with pytest.raises(EngineMisconfigured, match="http or https"):
        open_client(base)


@pytest.mark.parametrize(
    ("cause", "kind_of_error", "transient"),
    [
        (httpx.ConnectError("dns"), EngineUnavailable, True),
        (httpx.ReadError("reset"), EngineUnavailable, True),
        (httpx.ConnectTimeout("slow"), EngineTimeout, True),
        (TimeoutError(), EngineTimeout, True),
        (httpx.RemoteProtocolError("cut"), EngineTruncated, True),
        (httpx.DecodingError("gzip"), EngineFault, True),
        (httpx.UnsupportedProtocol("ftp"), EngineMisconfigured, False),
        (httpx.Response(529), EngineUnavailable, True),
        (httpx.Response(204), EngineRefused, False),
        (httpx.Response(404, text="sk-secret"), EngineRefused, False),
    ],
)
async def test_each_fault_has_its_error(cause, kind_of_error, transient) -> None:
    """One function says what a fault means and whether trying again makes sense; it quotes no text of the cause."""
    error = engine_error("llm", cause)
    assert type(error) is kind_of_error
    assert error.transient is transient
    assert "secret" not in str(error)


async def test_every_error_is_one_of_ours(lab, kind) -> None:
    """Whatever is on the other side, here one that speaks no HTTP, the caller catches one base."""
    async with lab.server([b"SSH-2.0-OpenSSH\r\n\r\n"]) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineError):
            await kind.ask(engine, 5)


async def test_an_answer_without_end_is_given_up(lab, kind) -> None:
    """More than any answer holds is a refusal, whether the status is good or not: memory stays bounded."""
    flood = b"x" * (MAX_ANSWER_BYTES + 1)
    for status in (200, 500):
        async with lab.server(lab.answer(flood, status)) as server, lab.engine(kind, server.base) as engine:
            with pytest.raises(EngineError):
                await kind.ask(engine, 30)


async def test_a_compressed_answer_is_refused(lab, kind) -> None:
    """It was not asked for, and a small one may be a very large one."""
    bomb = lab.answer(gzip.compress(b"{}"), **{"Content-Encoding": "gzip"})
    async with lab.server(bomb) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineRefused, match="compressed"):
            await kind.ask(engine, 5)


async def test_an_answer_nested_without_end_is_a_fault(lab, kind) -> None:
    """JSON that no parser can hold on its stack is nonsense like any other."""
    deep = b'data: {"error":' + b"[" * 50_000 + b"]" * 50_000 + b"}\n\n"
    async with lab.server(lab.answer(deep, 200)) as server, lab.engine(kind, server.base) as engine:
        with pytest.raises(EngineError):
            await kind.ask(engine, 5)
