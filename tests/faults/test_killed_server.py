"""SIGKILL to the server in mid-session, and its next start."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Crash:
    """What was left of a server that was killed: processes that outlived it, and what its candidate had been told."""

    orphans: list[int]
    children: list[int]
    told: list[str]
    restarted: Any


@pytest.fixture(scope="module")
def crash(
    start_server: Callable[..., Any],
    one_relance: dict[str, object],
    false_llm: Any,
    tmp_path_factory: Any,
    sit: Any,
    dickens: Any,
    processes: Any,
) -> Crash:
    """Kill a server in the moment in which it tells the third caption of a session; start another in its place."""
    place = tmp_path_factory.mktemp("crash")
    server = start_server(place, **one_relance)
    children = processes.descendants(server.process.pid)

    async def until_killed() -> tuple[list[str], list[int]]:
        async with sit(server, "t1", "iris") as candidate:
            await candidate.say(dickens(8, 24))
            await candidate.until("caption", 3)
            with processes.watching(children) as left:
                server.kill()
                await candidate.until_closed()
                return candidate.heard_as("candidate"), left()

    told, orphans = asyncio.run(until_killed())
    false_llm.tell()
    restarted = start_server(place, llm_url=false_llm.url, llm_model="false", shutdown_grace_s=3600, **one_relance)
    return Crash(orphans, children, told, restarted)


def test_a_killed_server_leaves_no_orphan(crash: Crash) -> None:
    """Its speech worker and its llama.cpp end with it, though nobody tells them to."""
    assert len(crash.children) >= 2
    assert crash.orphans == []


async def test_a_killed_server_lost_no_finished_turn(crash: Crash, watch: Any) -> None:
    """All but what was told in that very moment is in the store, and is evaluated at the next start by itself.

    A caption and its write begin together: the words are safe a commit later, which takes milliseconds.
    """
    production = await watch(crash.restarted).evaluated("iris")
    assert (production["tache"], production["statut"]) == ("EO_T1", "evaluated")
    assert production["transcript"].startswith(f"Candidate: {' '.join(crash.told[:-1])}")
    assert production["rapport"]["transcript"] == production["transcript"]


async def test_a_second_signal_ends_a_session_and_the_server_at_once(
    crash: Crash, sit: Any, watch: Any, processes: Any, dickens: Any
) -> None:
    """Though an hour of grace is set: what was said so far stays stored, and no child is left."""
    server = crash.restarted
    children = processes.descendants(server.process.pid)
    with processes.watching(children) as left:
        async with sit(server, "t1", "jack") as candidate:
            await candidate.say(dickens(9, 15))
            await candidate.until("caption")
            server.process.send_signal(signal.SIGTERM)
            await watch(server).until(lambda: refused(server, sit))
            server.process.send_signal(signal.SIGTERM)
            await candidate.until_closed()
        assert server.process.wait(timeout=60) == 128 + signal.SIGTERM
        assert left() == []


async def refused(server: Any, sit: Any) -> bool:
    """Whether a newcomer is told to try again later."""
    async with sit(server, "t2", "newcomer") as newcomer:
        await newcomer.end()
        return await newcomer.until_closed() == (1013, "TRY_AGAIN_LATER")
