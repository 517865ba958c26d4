"""The figures of a server."""

import asyncio
import time

import pytest

from server.alongside import alongside
from server.metrics import LAG_PERIOD_S, Metrics, watch_loop_lag


def test_every_figure_appears_under_its_name() -> None:
    """What is reported is what ``/metrics`` shows."""
    metrics = Metrics()
    metrics.session_started("t1")
    metrics.session_started("t1")
    metrics.session_ended("t1", 1000)
    metrics.refused("t2", "sessions")
    metrics.stage("t2", "stt", 0.3)
    metrics.engine_attempt("llm", "openai", "timeout", 2.0)
    metrics.tokens(read=100, written=7)
    metrics.process_restarted("worker")
    metrics.loop_lag(0.004)
    lines = metrics.exposition().decode().splitlines()
    for line in (
        'relance_sessions_active{task="t1"} 1.0',
        'relance_sessions_total{close_code="1000",task="t1"} 1.0',
        'relance_refused_total{reason="sessions",task="t2"} 1.0',
        'relance_stage_seconds_bucket{le="0.35",stage="stt",task="t2"} 1.0',
        'relance_stage_seconds_bucket{le="0.2",stage="stt",task="t2"} 0.0',
        'relance_engine_attempts_total{engine="llm",outcome="timeout",style="openai"} 1.0',
        'relance_engine_seconds_sum{engine="llm",style="openai"} 2.0',
        'relance_tokens_total{direction="in"} 100.0',
        'relance_tokens_total{direction="out"} 7.0',
        'relance_process_restarts_total{process="worker"} 1.0',
        'relance_event_loop_lag_seconds_bucket{le="0.005"} 1.0',
    ):
        assert line in lines


def test_two_servers_in_one_process_count_apart() -> None:
    """There is no global registry."""
    one, other = Metrics(), Metrics()
    one.refused("t1", "sessions")
    assert b"sessions" in one.exposition()
    assert b'reason="sessions"' not in other.exposition()


def test_a_blocked_loop_is_measured() -> None:
    """Work that blocks the loop past the watcher's period shows as lag."""
    observed: asyncio.Queue[float] = asyncio.Queue()

    class Observing(Metrics):
        def loop_lag(self, seconds: float) -> None:
            observed.put_nowait(seconds)

    async def block() -> float:
        async with alongside(watch_loop_lag(Observing())):
            await observed.get()  # the watcher runs, and has just gone to sleep again
            until = time.monotonic() + LAG_PERIOD_S + 0.06
            while time.monotonic() < until:
                pass
            return await observed.get()

    assert asyncio.run(block()) >= 0.05


def test_work_alongside_ends_with_the_block_and_hides_no_error() -> None:
    """The block's own exception comes out as it is, and the work is cancelled first."""
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    async def block() -> None:
        async with alongside(work()):
            await asyncio.sleep(0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(block())
    assert ended == ["work"]
