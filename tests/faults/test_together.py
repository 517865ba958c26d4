"""Sessions side by side and one after another: nothing of one is in another, and nothing of it stays."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

ONLY_T1 = {"interruption_start", "interruption_end"}
LAG = "relance_event_loop_lag_seconds"


async def test_two_sessions_do_not_mix(server: Any, sit: Any, watch: Any, dickens: Any) -> None:
    """Task 1 and task 2 at once: each client gets its own words, sound and frames alone.

    Both engines work all the while, and the event loop stays awake: fewer than 10 % of its wakings come more than 50 ms
    late. On a machine of its own none does; here the server shares two cores with its own engines, the client and
    whatever else runs, and a process that is not scheduled is late whatever it does. A loop that inference blocks is
    late far more often: a segment takes a second.
    """
    look = watch(server)
    before = await look.figure(f"{LAG}_count"), await look.figure(f"{LAG}_bucket", le="0.05")
    async with sit(server, "t1", "fay") as interview, sit(server, "t2", "gus") as roleplay:
        await interview.say(dickens(0, 8))
        await roleplay.say(dickens(16, 24))
        await asyncio.gather(interview.until("caption"), roleplay.until("audio"))
        await roleplay.say(dickens(24, 32))
        answered = len(roleplay.of("audio"))
        await asyncio.gather(interview.until("interruption_end"), roleplay.until("audio", answered + 20))
    after = await look.figure(f"{LAG}_count"), await look.figure(f"{LAG}_bucket", le="0.05")

    monologue, dialogue = [(await look.recorded(sub))["transcript"] for sub in ("fay", "gus")]
    assert [word in monologue for word in ("wisdom", "despair", "heaven")] == [True, False, False]
    assert [word in dialogue for word in ("wisdom", "despair", "heaven")] == [False, True, True]
    for candidate, transcript in ((interview, monologue), (roleplay, dialogue)):
        assert said_by_the_candidate(transcript).startswith(" ".join(candidate.heard_as("candidate")))
    (relance,) = interview.heard_as("examiner")
    assert relance in monologue
    assert relance not in dialogue
    assert all("serverContent" in frame.content for frame in interview.of("audio") + interview.of("turnComplete"))
    assert all("type" in frame.content for frame in roleplay.frames)
    assert not ONLY_T1 & {frame.kind for frame in roleplay.frames}
    wakings, in_time = (late - early for late, early in zip(after, before, strict=True))
    assert wakings > 50
    assert 1 - in_time / wakings < 0.1, f"{wakings - in_time:.0f} of {wakings:.0f} wakings were over 50 ms late"


@pytest.mark.parametrize("sessions", [60, pytest.param(500, marks=pytest.mark.thorough)])
async def test_short_sessions_leave_nothing(misled: Any, sit: Any, watch: Any, processes: Any, sessions: int) -> None:
    """One user, one session after another: each finds the place free, and memory and handles stay."""

    async def short_sessions(count: int) -> None:
        for _ in range(count):
            async with sit(misled, "t2", "hana") as candidate:
                await candidate.say(np.zeros(4_800, np.int16))
                await candidate.end()
                assert (await candidate.until("error")).content["code"] == "EMPTY_TRANSCRIPT"
                assert await candidate.until_closed() == (1000, "")

    look, pid = watch(misled), misled.process.pid
    await short_sessions(20)
    memory, files = processes.memory_bytes(pid), processes.open_files(pid)
    ended = await look.figure("relance_sessions_total", task="t2", close_code="1000")
    await short_sessions(sessions)

    async def counted() -> bool:
        return await look.figure("relance_sessions_total", task="t2", close_code="1000") == ended + sessions

    await look.until(counted)
    assert await look.figure("relance_sessions_active") == 0
    assert processes.memory_bytes(pid) - memory < 4 * 1024 * 1024
    assert processes.open_files(pid) <= files + 4


def said_by_the_candidate(transcript: str) -> str:
    return " ".join(line.partition(": ")[2] for line in transcript.splitlines() if line.startswith("Candidate: "))
