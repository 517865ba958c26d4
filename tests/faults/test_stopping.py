"""SIGTERM while a session runs."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Stop:
    """How a server without grace left: the session's close, the exit status, children left, what it stored."""

    close: tuple[int, str]
    status: int
    children_left: list[int]
    stored: tuple[str, str]
    told: list[str]
    restarted: Any


@pytest.fixture(scope="module")
def stop(
    start_server: Callable[..., Any],
    one_relance: dict[str, object],
    false_llm: Any,
    tmp_path_factory: Any,
    sit: Any,
    dickens: Any,
    processes: Any,
) -> Stop:
    """Stop a server that gives its sessions no time, in mid-session, and start another in its place."""
    place: Path = tmp_path_factory.mktemp("stop")
    llm = {"llm_url": false_llm.url, "llm_model": "false"}
    server = start_server(place, shutdown_grace_s=0, **llm, **one_relance)
    false_llm.tell(assessment=None)

    async def until_stopped() -> tuple[Any, list[str], list[int]]:
        with processes.watching(processes.descendants(server.process.pid)) as left:
            async with sit(server, "t1", "kim") as candidate:
                await candidate.say(dickens(9, 15))
                await candidate.until("caption")
                server.process.send_signal(signal.SIGTERM)
                return await candidate.until_closed(), candidate.heard_as("candidate"), left()

    close, told, left = asyncio.run(until_stopped())
    status = server.process.wait(timeout=60)
    with closing(sqlite3.connect(place / "relance.sqlite3")) as database:
        stored = database.execute("SELECT statut, transcript FROM productions").fetchone()
    false_llm.tell()
    return Stop(close, status, left, stored, told, start_server(place, **llm, **one_relance))


def test_a_session_without_grace_is_closed_and_stored(stop: Stop) -> None:
    """1001, its words kept; the server leaves in order, and its children with it."""
    assert stop.close == (1001, "GOING_AWAY")
    assert stop.stored == ("recorded", f"Candidate: {' '.join(stop.told)}")
    assert (stop.status, stop.children_left) == (0, [])


async def test_what_a_stop_left_is_evaluated_at_the_next_start(stop: Stop, watch: Any) -> None:
    """Without anybody asking."""
    assert (await watch(stop.restarted).evaluated("kim"))["statut"] == "evaluated"


async def test_a_running_session_may_end_and_newcomers_are_sent_away(
    stop: Stop, sit: Any, watch: Any, processes: Any, dickens: Any
) -> None:
    """The session gets its report; whoever comes meanwhile gets 1013; then the server leaves with status 0."""
    server = stop.restarted
    with processes.watching(processes.descendants(server.process.pid)) as left:
        async with sit(server, "t2", "lea") as candidate:
            await candidate.say(dickens(9, 12))
            await candidate.until("turnComplete")
            server.process.send_signal(signal.SIGTERM)

            async def newcomer_is_refused() -> bool:
                async with sit(server, "t1", "newcomer") as newcomer:
                    await newcomer.end()
                    return await newcomer.until_closed() == (1013, "TRY_AGAIN_LATER")

            await watch(server).until(newcomer_is_refused)
            await candidate.end()
            assert (await candidate.until("report")).content["data"]["tache"] == "EO_T2"
            assert await candidate.until_closed() == (1000, "")
        assert server.process.wait(timeout=60) == 0
        assert left() == []
