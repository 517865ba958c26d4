"""Plays the examiner's turns to the client, one at a time, and tells how much of each was heard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from server.exam.facts import AudioPlayed, AudioSent, Fact
from server.live.outbox import Outbox
from server.live.player import Clock, Player
from server.live.voice import Reply


class Speaker:
    """Sends turns through the outbox. ``on_first`` is called when a reply's first frame has been written."""

    def __init__(
        self,
        outbox: Outbox,
        encode_audio: Callable[[bytes], str],
        group: asyncio.TaskGroup,
        post: Callable[[Fact], None],
        clock: Clock,
        on_first: Callable[[Reply], None],
    ) -> None:
        self._outbox = outbox
        self._encode_audio = encode_audio
        self._group = group
        self._post = post
        self._clock = clock
        self._on_first = on_first
        self._playing: tuple[int, Player, asyncio.Task[None]] | None = None

    def say(self, reply: Reply) -> None:
        """Begin to send ``reply``, from its beginning."""
        turn = reply.turn

        async def write(chunk: NDArray[np.int16]) -> bool:
            return await self._outbox.send_audio(turn, self._encode_audio(chunk.astype("<i2").tobytes()))

        player = Player(
            reply.blocks(),
            write,
            self._clock,
            on_first=lambda: self._on_first(reply),
            on_sent=lambda: self._post(AudioSent(turn)),
            on_heard=lambda samples, complete: self._post(AudioPlayed(turn, samples, complete)),
        )
        self._playing = turn, player, self._group.create_task(player.run(), name=f"player-{turn}")

    def stop(self, turn: int) -> int:
        """Send no more of ``turn``; return the samples that were heard of it, 0 when it had not begun."""
        self._outbox.revoke(turn)
        if self._playing is None or self._playing[0] != turn:
            return 0
        _, player, task = self._playing
        self._playing = None
        task.cancel()
        return player.heard
