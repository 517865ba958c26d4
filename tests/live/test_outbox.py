"""One place writes to the socket, in order; whoever hands it a frame is never held up by a slow client."""

from __future__ import annotations

import asyncio
from types import ModuleType
from typing import Any

import pytest

from server.live.outbox import CLOSE_PATIENCE_S, Outbox


class Desk:
    """An outbox at work on a real Starlette WebSocket, with a client in memory at its other end."""

    def __init__(self, client: ModuleType) -> None:
        self.client: Any = client.Candidate(None, None)

    async def __aenter__(self) -> Desk:
        self.outbox = Outbox(await self.client.connect())
        self._task = asyncio.ensure_future(self.outbox.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        assert self._task.cancelled(), f"the outbox died: {self._task.exception()!r}"


def frame(name: str) -> str:
    return f'{{"type":"{name}"}}'


async def settle() -> None:
    await asyncio.sleep(0.01)


@pytest.mark.parametrize("break_line", ["vanish", "lose_the_line"])
async def test_a_broken_line_drops_what_is_sent(client: ModuleType, break_line: str) -> None:
    """When the client is gone, in whatever way the server learns of it, frames are dropped and nothing is raised."""
    async with Desk(client) as desk:
        getattr(desk.client, break_line)()
        desk.outbox.send(frame("warning"))
        assert await desk.outbox.send_audio(1, frame("audio")) is False
        await desk.outbox.close(1000, "")
        assert desk.client.frames == []


async def test_closing_a_broken_line_raises_nothing(client: ModuleType) -> None:
    """The line may break unseen before the close frame: that is the client's loss, not a fault."""
    async with Desk(client) as desk:
        desk.client.lose_the_line()
        await desk.outbox.close(1000, "")
        assert desk.client.close is None


async def test_a_client_that_does_not_read_is_given_up(client: ModuleType) -> None:
    """Closing waits for a client that reads no more for a bounded time, and no longer."""
    async with Desk(client) as desk:
        desk.client.reads = False
        desk.outbox.send(frame("report"))
        await desk.outbox.close(1000, "")
        assert asyncio.get_running_loop().time() == pytest.approx(CLOSE_PATIENCE_S, abs=0.01)


async def test_a_client_that_does_not_read_holds_up_no_control_frame(client: ModuleType) -> None:
    """Handing over a control frame returns at once, whether or not the client reads."""
    async with Desk(client) as desk:
        desk.client.reads = False
        for _ in range(100):
            desk.outbox.send(frame("caption"))
        assert asyncio.get_running_loop().time() < 0.01


async def test_frames_go_out_in_order_and_the_close_goes_last(client: ModuleType) -> None:
    """Control and audio frames share one queue; the close waits for it."""
    async with Desk(client) as desk:
        desk.outbox.send(frame("interruption_start"))
        sending = asyncio.ensure_future(desk.outbox.send_audio(1, frame("sound")))
        await asyncio.sleep(0)
        desk.outbox.send(frame("turnComplete"))
        await desk.outbox.close(1000, "BYE")
        assert await sending is True
        assert desk.client.kinds == ["interruption_start", "sound", "turnComplete"]
        assert desk.client.close == (1000, "BYE")


async def test_a_revoked_turn_is_dropped_and_others_are_not(client: ModuleType) -> None:
    """Of a revoked turn nothing goes out any more, queued or yet to come; other turns and control frames do."""
    async with Desk(client) as desk:
        queued = asyncio.ensure_future(desk.outbox.send_audio(1, frame("one")))
        await asyncio.sleep(0)
        desk.outbox.revoke(1)
        desk.outbox.send(frame("interrupted"))
        assert await queued is False
        assert await desk.outbox.send_audio(1, frame("one")) is False
        assert await desk.outbox.send_audio(2, frame("two")) is True
        assert desk.client.kinds == ["interrupted", "two"]


async def test_a_sender_that_was_cancelled_leaves_the_outbox_working(client: ModuleType) -> None:
    """A player may be stopped while its frame waits; the outbox goes on."""
    async with Desk(client) as desk:
        sending = asyncio.ensure_future(desk.outbox.send_audio(1, frame("one")))
        await asyncio.sleep(0)
        sending.cancel()
        await settle()
        assert await desk.outbox.send_audio(2, frame("two")) is True


async def test_a_client_given_up_gets_nothing_more(client: ModuleType) -> None:
    """After the receiver has seen the client leave, what is queued is dropped and no close frame is tried."""
    async with Desk(client) as desk:
        desk.outbox.send(frame("warning"))
        desk.outbox.give_up()
        desk.outbox.send(frame("report"))
        await desk.outbox.close(1000, "")
        assert (desk.client.frames, desk.client.close) == ([], None)
