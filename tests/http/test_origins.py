"""WebSockets from web pages of other origins."""

import asyncio
from collections.abc import Collection

import pytest
from starlette.types import Message, Receive, Scope, Send

from server.http.origins import WebSocketOrigins


async def inner(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "websocket.accept"})


def first_answer(allowed: Collection[str], origin: str | None) -> str:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [] if origin is None else [(b"origin", origin.encode())]
    asyncio.run(WebSocketOrigins(inner, allowed)({"type": "websocket", "headers": headers}, receive, send))
    return str(sent[0]["type"])


@pytest.mark.parametrize(
    ("allowed", "origin", "answer"),
    [
        (["https://a.org"], "https://b.org", "websocket.close"),
        (["https://a.org"], "https://a.org.b.org", "websocket.close"),
        (["https://a.org"], "null", "websocket.close"),
        (["https://a.org"], "https://a.org", "websocket.accept"),
        (["https://a.org"], None, "websocket.accept"),
        (["*"], "https://b.org", "websocket.accept"),
    ],
)
def test_a_page_must_be_of_an_allowed_origin(allowed: list[str], origin: str | None, answer: str) -> None:
    """Only the exact origins pass; a client that is no browser names none, and passes."""
    assert first_answer(allowed, origin) == answer
