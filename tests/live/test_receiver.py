"""The receiver reads whatever a client sends, takes what is of the contract, and ends for its own few reasons only."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.exam.facts import ClientLeft, EndRequested, Fact, LimitExceeded
from server.live.ear import BacklogExceeded
from server.live.receiver import Receiver

GONE = {"type": "websocket.disconnect", "code": 1001}


class Ear:
    """What the receiver hands on."""

    def __init__(self, *, full: bool = False) -> None:
        self.heard: list[Any] = []
        self._full = full

    async def hear(self, pcm: bytes) -> None:
        if self._full:
            raise BacklogExceeded
        self.heard.append(pcm)

    def activity_start(self) -> None:
        self.heard.append("start")

    def activity_end(self) -> None:
        self.heard.append("end")


class Source:
    """Frames to come, one every ``gap_s`` seconds; then nothing, for ever."""

    def __init__(self, *events: dict[str, Any], gap_s: float = 0.0) -> None:
        self._events = list(events)
        self._gap_s = gap_s

    async def receive(self) -> dict[str, Any]:
        await asyncio.sleep(self._gap_s if self._events else 1e6)
        return self._events.pop(0)


def text(frame: Any) -> dict[str, Any]:
    return {"type": "websocket.receive", "text": frame if isinstance(frame, str) else json.dumps(frame)}


def audio(pcm: bytes) -> dict[str, Any]:
    return text({"type": "audio", "data": base64.b64encode(pcm).decode()})


async def receive(*events: dict[str, Any], gap_s: float = 0.0, ear: Ear | None = None, manual: bool = False) -> Any:
    facts: list[Fact] = []
    ear = ear or Ear()
    await Receiver(Source(*events, gap_s=gap_s), ear, facts.append, 60.0, manual_vad=manual).run()
    return facts, ear.heard


async def test_audio_behind_the_end_is_dropped() -> None:
    """Its frame may be read before the exam has heard of the end; it is no part of the exam all the same."""
    facts, heard = await receive(audio(b"before"), text({"type": "end"}), audio(b"behind"), GONE)
    assert facts == [EndRequested(), ClientLeft()]
    assert heard == [b"before"]


@pytest.mark.parametrize(
    "frame",
    [
        text("not json"),
        text(""),
        text("[]"),
        text({"type": "pong"}),
        text({"type": "audio"}),
        text({"type": "audio", "data": "£££"}),
        text({"type": "activityStart"}),
        {"type": "websocket.receive", "bytes": b"\0\1"},
        {"type": "websocket.receive", "text": None, "bytes": b'{"type":"end"}'},
        {"type": "websocket.receive"},
    ],
)
async def test_what_is_no_message_is_ignored(frame: dict[str, Any]) -> None:
    """Unknown, malformed and binary frames do nothing; the next message is taken as if they had not been."""
    assert await receive(frame, audio(b"\1\2"), GONE) == ([ClientLeft()], [b"\1\2"])


async def test_a_client_that_sends_nothing_is_idle() -> None:
    """After the limit without a single frame the exam is to end, with the idle client's close."""
    facts, _ = await receive()
    assert facts == [LimitExceeded(1001, "IDLE_TIMEOUT")]
    assert asyncio.get_running_loop().time() == pytest.approx(60.0, abs=0.01)


async def test_any_frame_keeps_a_client_from_being_idle() -> None:
    """The limit counts from the last frame, whatever it was."""
    facts, _ = await receive(*[text({"type": "ping"})] * 10, GONE, gap_s=59.0)
    assert facts == [ClientLeft()]


async def test_audio_that_backs_up_ends_the_exam() -> None:
    """Audio is never dropped in silence: the backlog has a close of its own."""
    facts, _ = await receive(audio(b"\1\2"), ear=Ear(full=True))
    assert facts == [LimitExceeded(1008, "AUDIO_BACKLOG")]


async def test_a_client_that_leaves_is_told_once() -> None:
    """A disconnect is the end of receiving."""
    assert await receive(GONE) == ([ClientLeft()], [])


async def test_every_end_is_told() -> None:
    """Asking twice is two facts: which of them counts is the exam's to know."""
    facts, _ = await receive(text({"type": "end"}), text({"type": "end"}), GONE)
    assert facts == [EndRequested(), EndRequested(), ClientLeft()]


async def test_push_to_talk_is_taken_from_those_who_asked_for_it() -> None:
    """The two marks go to the ear, in their place among the audio."""
    marks = text({"type": "activityStart"}), audio(b"\1\2"), text({"type": "activityEnd"})
    assert await receive(*marks, GONE, manual=True) == ([ClientLeft()], ["start", b"\1\2", "end"])
    assert await receive(*marks, GONE) == ([ClientLeft()], [b"\1\2"])


@given(st.lists(st.one_of(st.text(), st.binary()), max_size=8))
def test_no_frame_ends_receiving(run: Callable[..., Any], frames: list[str | bytes]) -> None:
    """Whatever a client sends, the next good message is still taken."""
    events = [{"type": "websocket.receive", "text" if isinstance(frame, str) else "bytes": frame} for frame in frames]
    facts, _ = run(receive(*events, text({"type": "end"}), GONE))
    assert facts == [EndRequested(), ClientLeft()]
