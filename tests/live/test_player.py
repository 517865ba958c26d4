"""A turn's audio goes out at the pace at which it is heard, and what is said to be heard was sent before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.protocols import TTS_RATE_HZ
from server.live.player import CHUNK_SAMPLES, Player, Playhead, rechunk

Audio = NDArray[np.int16]

steps = st.lists(st.tuples(st.floats(0, 5), st.integers(1, 60_000), st.floats(0, 5)), max_size=20)


def now() -> float:
    return asyncio.get_running_loop().time()


async def blocks_of(lengths: list[int], gap_s: float = 0.0) -> AsyncIterator[Audio]:
    for length in lengths:
        if gap_s:
            await asyncio.sleep(gap_s)
        yield np.ones(length, dtype=np.int16)


class Listener:
    """What a player's four callbacks were told, and when."""

    def __init__(self, *, refuses_after: int = 1_000, write_s: float = 0.0) -> None:
        self.written: list[tuple[float, int]] = []
        self.heard: list[tuple[float, int, bool]] = []
        self.first: list[float] = []
        self.sent: list[float] = []
        self._refuses_after = refuses_after
        self._write_s = write_s

    def player(self, blocks: AsyncIterator[Audio]) -> Player:
        return Player(
            blocks,
            self._write,
            now,
            on_first=lambda: self.first.append(now()),
            on_sent=lambda: self.sent.append(now()),
            on_heard=lambda samples, complete: self.heard.append((now(), samples, complete)),
        )

    async def _write(self, chunk: Audio) -> bool:
        await asyncio.sleep(self._write_s)
        if len(self.written) >= self._refuses_after:
            return False
        self.written.append((now(), len(chunk)))
        return True


@given(steps)
def test_no_more_is_heard_than_was_sent(steps: list[tuple[float, int, float]]) -> None:
    """At every moment the samples heard are at most those sent, and what is missing is what the client has ahead."""
    playhead, moment = Playhead(), 0.0
    for wait_s, samples, later_s in steps:
        moment += wait_s
        playhead.wrote(samples, moment)
        for at in (moment, moment + later_s):
            assert 0 <= playhead.heard(at) <= playhead.sent
            assert playhead.sent - playhead.heard(at) == pytest.approx(playhead.ahead_s(at) * TTS_RATE_HZ, abs=1)


@given(steps)
def test_what_is_heard_grows_with_time_and_comes_to_all_of_it(steps: list[tuple[float, int, float]]) -> None:
    """The position never goes back, and once the time of all samples has passed it is at the end."""
    playhead, moment, before = Playhead(), 0.0, 0
    for wait_s, samples, _ in steps:
        moment += wait_s
        assert playhead.heard(moment) >= before
        before = playhead.heard(moment)
        playhead.wrote(samples, moment)
    assert playhead.heard(moment + 60_000 * 20 / TTS_RATE_HZ + 1) == playhead.sent


def test_a_gap_in_synthesis_is_not_counted_as_heard() -> None:
    """When the client has run dry, the position waits for the next chunk; it does not run on."""
    playhead = Playhead()
    playhead.wrote(TTS_RATE_HZ, 0.0)
    assert playhead.heard(5.0) == TTS_RATE_HZ
    playhead.wrote(TTS_RATE_HZ, 5.0)
    assert playhead.heard(5.5) == TTS_RATE_HZ * 3 // 2


@given(st.lists(st.integers(0, 5_000), max_size=15), st.integers(1, 3_000))
def test_chunks_hold_the_same_samples_in_the_same_order(
    run: Callable[..., list[Audio]], lengths: list[int], size: int
) -> None:
    """Whatever the blocks, the chunks are the same audio, each of the asked size but for a shorter last one."""

    async def blocks(audio: Audio) -> AsyncIterator[Audio]:
        for part in np.split(audio, np.cumsum(lengths)[:-1]) if lengths else []:
            yield part

    async def collect(audio: Audio) -> list[Audio]:
        return [chunk async for chunk in rechunk(blocks(audio), size)]

    audio = np.arange(sum(lengths)).astype(np.int16)
    chunks = run(collect(audio))
    np.testing.assert_array_equal(np.concatenate([np.zeros(0, np.int16), *chunks]), audio)
    assert all(len(chunk) == size for chunk in chunks[:-1])
    assert all(0 < len(chunk) <= size for chunk in chunks)


async def test_a_full_chunk_is_not_held_back() -> None:
    """A chunk is given as soon as it is full, though the next block is still being made."""
    chunks = rechunk(blocks_of([1_000, 10], gap_s=1.0), 500)
    await anext(chunks)
    await anext(chunks)
    assert now() == pytest.approx(1.0)


async def test_audio_goes_out_at_most_a_second_ahead() -> None:
    """However fast audio is made, at no moment has more than a second been sent and not yet been heard."""
    listener = Listener()
    await listener.player(blocks_of([5 * TTS_RATE_HZ])).run()
    sent = 0
    for at, samples in listener.written:
        sent += samples
        assert sent / TTS_RATE_HZ - at <= 1.0 + 1e-6
    assert sent == 5 * TTS_RATE_HZ
    assert {samples for _, samples in listener.written} == {CHUNK_SAMPLES}
    assert sum(at < 0.05 for at, _ in listener.written) == 10


async def test_a_turn_is_complete_when_it_has_been_heard() -> None:
    """The last chunk is sent a second before the end; when its time has passed the turn is complete, once."""
    listener = Listener()
    await listener.player(blocks_of([3 * TTS_RATE_HZ])).run()
    assert listener.sent == [pytest.approx(2.0)]
    assert listener.heard[-1] == (pytest.approx(3.0), 3 * TTS_RATE_HZ, True)
    assert [complete for _, _, complete in listener.heard].count(True) == 1


async def test_progress_is_told_while_a_turn_plays() -> None:
    """What was heard so far is told several times a second, never more than was sent, and never backwards."""
    listener = Listener()
    await listener.player(blocks_of([3 * TTS_RATE_HZ])).run()
    moments = [at for at, _, _ in listener.heard]
    positions = [samples for _, samples, _ in listener.heard]
    assert max(later - earlier for earlier, later in pairwise(moments)) <= 0.1 + 1e-6
    assert positions == sorted(positions)


async def test_the_first_chunk_is_told_once_when_it_was_written() -> None:
    """The gap that a candidate waits is measured at the first chunk that really went out."""
    listener = Listener(write_s=0.4)
    await listener.player(blocks_of([TTS_RATE_HZ])).run()
    assert listener.first == [pytest.approx(0.4)]


async def test_slow_synthesis_moves_the_end() -> None:
    """Where audio is made more slowly than it is heard, the end is the last block's, not the sum of the lengths."""
    listener = Listener()
    await listener.player(blocks_of([CHUNK_SAMPLES] * 5, gap_s=1.0)).run()
    assert listener.heard[-1] == (pytest.approx(5.1), 5 * CHUNK_SAMPLES, True)


async def test_a_turn_that_cannot_be_written_stops() -> None:
    """Once a chunk was dropped nothing more is sent, and the turn is never told as sent or complete."""
    listener = Listener(refuses_after=3)
    await listener.player(blocks_of([3 * TTS_RATE_HZ])).run()
    assert len(listener.written) == 3
    assert listener.sent == []
    assert not any(complete for _, _, complete in listener.heard)


async def test_a_turn_without_audio_is_complete_at_once() -> None:
    """No blocks at all: the turn is sent and heard, with no samples."""
    listener = Listener()
    await listener.player(blocks_of([])).run()
    assert (listener.first, len(listener.sent)) == ([], 1)
    assert [(samples, complete) for _, samples, complete in listener.heard] == [(0, True)]
    assert now() < 0.01


async def test_a_cancelled_player_knows_what_was_heard() -> None:
    """Stopping in mid-turn sends nothing more; the position stays what had the time to be heard."""
    listener = Listener()
    player = listener.player(blocks_of([5 * TTS_RATE_HZ]))
    task = asyncio.ensure_future(player.run())
    await asyncio.sleep(1.25)
    written = len(listener.written)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert player.heard == pytest.approx(1.25 * TTS_RATE_HZ, abs=1)
    await asyncio.sleep(3)
    assert len(listener.written) == written
