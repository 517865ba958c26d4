from __future__ import annotations

import asyncio

import numpy as np
import pytest

from server.client.advice import explain, is_refusal
from server.client.errors import ExamOver, ServerUnreachable
from server.client.events import Closed
from server.client.session import open_exam
from server.wire import closes

CONTRACT = [value for value in vars(closes).values() if isinstance(value, closes.CloseCode)]
REFUSALS = {4001, 4003, 4004, 4005, 1013}


@pytest.mark.parametrize("code", CONTRACT, ids=lambda code: f"{code.code}-{code.reason}")
def test_every_close_of_the_contract_is_seen_and_explained(serving, code):
    """The code and the reason arrive as they were sent, and become one line with both and a meaning of their own."""

    async def exam():
        async with (
            serving(lambda candidate: candidate.close(code.code, code.reason)) as server,
            open_exam(f"{server.url}/t2/live?token=t") as client,
        ):
            return [timed.event async for timed in client]

    assert asyncio.run(exam()) == [Closed(code.code, code.reason)]
    line = explain(Closed(code.code, code.reason))
    assert line.startswith(f"closed with {code.code} {code.reason}".strip())
    assert "does not have" not in line
    assert "\n" not in line
    assert is_refusal(Closed(code.code, code.reason)) == (code.code in REFUSALS)


@pytest.mark.parametrize(
    ("closed", "meaning"),
    [
        (Closed(1006, ""), "the connection broke"),
        (Closed(1011, "keepalive ping timeout"), "did not foresee"),
        (Closed(4001, ""), "relance token"),
        (Closed(1001, "GOING_AWAY"), "shutting down"),
        (Closed(1001, "IDLE_TIMEOUT"), "heard nothing"),
        (Closed(4999, "SURPRISE"), "does not have"),
    ],
)
def test_a_close_with_another_reason_is_explained_by_its_code(closed, meaning):
    """A known code without its reason keeps its meaning; an unknown one is called so."""
    assert meaning in explain(closed)


def test_sending_after_the_close_is_an_error_of_its_own(serving):
    """Whoever still speaks when the exam is over is told."""

    async def exam():
        async with serving(lambda candidate: candidate.close()) as server, open_exam(f"{server.url}/t1/live") as client:
            async for _ in client:
                pass
            await client.send_pcm(np.zeros(1, np.int16))

    with pytest.raises(ExamOver, match="closed"):
        asyncio.run(exam())


def test_leaving_closes_the_socket(serving):
    """Leaving the exam's block closes it; the iteration ends with that."""

    async def script(candidate):
        with pytest.raises(AssertionError, match="gone"):
            await candidate.take()

    async def exam():
        async with serving(script) as server, open_exam(f"{server.url}/t1/live") as client:
            await client.close()
            await client.close()

    asyncio.run(exam())


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ws://127.0.0.1:1/t1/live?token=SECRET", "connection refused"),
        ("ws://nowhere.invalid/t1/live?token=SECRET", "no exam at ws://nowhere.invalid/t1/live: "),
        ("http://127.0.0.1:1/t1/live?token=SECRET", "not a WebSocket address"),
    ],
)
def test_an_address_without_a_server_is_told_without_the_token(address, why):
    """What failed is in one line, and the token is not in it."""

    async def exam():
        async with open_exam(address):
            pass

    with pytest.raises(ServerUnreachable) as fault:
        asyncio.run(exam())
    assert why in str(fault.value)
    assert "SECRET" not in str(fault.value)


def test_a_handshake_that_is_refused_by_http_is_told(serving):
    """A server that answers HTTP 403 in place of an upgrade is no exam server; its answer is in the message."""

    async def exam():
        async with (
            serving(lambda candidate: candidate.close()) as server,
            open_exam(f"{server.url}/closed/?token=SECRET"),
        ):
            pass

    with pytest.raises(ServerUnreachable, match="403") as fault:
        asyncio.run(exam())
    assert "SECRET" not in str(fault.value)


def test_a_server_that_never_answers_is_given_up():
    """A port that takes connections and says nothing is no server."""

    async def exam():
        release = asyncio.Event()

        async def mute(reader, writer):
            await release.wait()
            writer.close()

        async with await asyncio.start_server(mute, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            try:
                async with open_exam(f"ws://127.0.0.1:{port}/t1/live", open_timeout_s=0.05):
                    pass
            finally:
                release.set()

    with pytest.raises(ServerUnreachable, match="no answer in time"):
        asyncio.run(exam())
