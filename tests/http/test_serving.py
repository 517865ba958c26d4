"""The server as a process: tokens that leave no trace, and how it stops."""

import json
import signal
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJl"
Start = Callable[[float], Any]


def test_a_token_is_taken_from_query_header_or_subprotocol(start: Start) -> None:
    """The three ways give the same token; of the subprotocols only the word ``bearer`` is echoed."""
    server = start(1)
    address = f"ws://127.0.0.1:{server.port}/live"
    with connect(f"{address}?token={TOKEN}") as ws:
        assert (ws.recv(), ws.subprotocol) == (TOKEN, None)
    with connect(address, additional_headers={"Authorization": f"Bearer {TOKEN}"}) as ws:
        assert ws.recv() == TOKEN
    with connect(address, subprotocols=["bearer", TOKEN]) as ws:  # type: ignore[list-item]
        assert (ws.recv(), ws.subprotocol) == (TOKEN, "bearer")
    with connect(address, subprotocols=["other"]) as ws:  # type: ignore[list-item]
        assert (ws.recv(), ws.subprotocol) == ("", None)


def test_no_log_line_holds_a_token(start: Start) -> None:
    """At the most talkative level, with accepted, refused, crashed and malformed connections: the token is nowhere."""
    server = start(1)
    with connect(f"ws://127.0.0.1:{server.port}/live?token={TOKEN}") as ws:
        ws.recv()
    with connect(f"ws://127.0.0.1:{server.port}/crash?token={TOKEN}") as ws, pytest.raises(ConnectionClosed):
        ws.recv()
    with pytest.raises(InvalidStatus):
        connect(f"ws://127.0.0.1:{server.port}/nowhere?token={TOKEN}")
    httpx.get(f"http://127.0.0.1:{server.port}/sujets?token={TOKEN}", headers={"Authorization": f"Bearer {TOKEN}"})
    httpx.get(
        f"http://127.0.0.1:{server.port}/live?token={TOKEN}",
        headers={"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Protocol": f"bearer, {TOKEN}, (,"},
    )
    server.process.send_signal(signal.SIGTERM)
    status, log = server.ended()
    assert status == 0
    assert not any(part in log for part in TOKEN.split("."))
    crash = [json.loads(line) for line in log.splitlines() if "Exception in ASGI application" in line]
    assert [event["exception"] for event in crash] == ["ValueError"]
    assert "stand_in.py" in crash[0]["at"][-1]


def test_a_stop_lets_sessions_end_and_sends_newcomers_away(start: Start) -> None:
    """SIGTERM: whoever comes now is told 1013, the running session ends in its own time, then the server stops."""
    server = start(30)
    address = f"ws://127.0.0.1:{server.port}/live"
    with connect(address) as running:
        running.recv()
        server.process.send_signal(signal.SIGTERM)
        assert server.line() == "draining"
        with connect(address) as late:
            with pytest.raises(ConnectionClosed) as refused:
                late.recv()
            assert refused.value.rcvd is not None
            assert (refused.value.rcvd.code, refused.value.rcvd.reason) == (1013, "TRY_AGAIN_LATER")
        running.send("done")
    assert server.line() == "stored"
    assert server.ended()[0] == 0


def test_a_stop_waits_no_longer_than_the_grace(start: Start) -> None:
    """A session that goes on past the grace is cut, and the server still leaves in order."""
    server = start(0.2)
    with connect(f"ws://127.0.0.1:{server.port}/live") as running:
        running.recv()
        server.process.send_signal(signal.SIGTERM)
        assert [server.line() for _ in range(3)] == ["draining", "cut", "stored"]
    assert server.ended()[0] == 0


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_stops_at_once(start: Start, second: signal.Signals) -> None:
    """Whoever signals twice does not wait for sessions; services are still left in order."""
    server = start(3600)
    with connect(f"ws://127.0.0.1:{server.port}/live") as running:
        running.recv()
        server.process.send_signal(signal.SIGTERM)
        assert server.line() == "draining"
        server.process.send_signal(second)
        assert server.line() == "stored"
        status, log = server.ended()
    assert status == 128 + second
    assert "Traceback" not in log


def test_frames_over_the_limit_close_with_1009(start: Start) -> None:
    """A frame over 1 MiB, the default limit, closes the connection with 1009."""
    server = start(1)
    with connect(f"ws://127.0.0.1:{server.port}/live") as ws:
        ws.recv()
        ws.send("x" * (1024 * 1024 + 1))
        with pytest.raises(ConnectionClosed) as closed:
            ws.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
