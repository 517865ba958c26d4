"""The candidate cuts in while the examiner's words and voice are being made: the requests for them end at once."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

TIMES = 5
AT_ONCE_S = 0.1
"""Between ``interrupted`` at the client and the closed connection; half of the times at least."""
ON_A_BUSY_MACHINE_S = 1.0
RESTS_S = 1.0
LONG = (
    "Yes, the train to the coast leaves at nine in the morning from the third platform, it stops at every small town "
    "along the river and at the old harbour, it has a dining car and a coach for bicycles, and it comes back at eight "
    "in the evening by the same way, every day of the week"
)
"""One sentence, of which a voice makes several clauses."""


async def test_cutting_in_closes_the_requests(elsewhere: Any, answers: Any, sit: Any, watch: Any, dickens: Any) -> None:
    """Model and voice are both in the middle of their answers: both connections are closed, each time, at once."""
    look = watch(elsewhere.server)
    scene = (await look.subjects())[6]["consigne"][:40]
    reply = "This is a long story."
    elsewhere.llm.tell(begun(answers, reply), scene)
    elsewhere.tts.tell(answers.endless(answers.PCM, answers.tone(0.1), 0.05), reply)
    cancelled = await look.figure("relance_engine_attempts_total", outcome="cancelled")
    after_s: dict[str, list[float]] = {"llm": [], "tts": []}
    async with sit(elsewhere.server, "t2", "interrupter", subject=6) as candidate:
        for turn in range(TIMES):
            sounds = len(candidate.of("audio"))
            await candidate.say(dickens(9, 11))
            cut = await candidate.until("interrupted", turn) if turn else None
            if cut:
                for kind, double, mark in (("llm", elsewhere.llm, scene), ("tts", elsewhere.tts, reply)):
                    exchange = double.asked(mark)[turn - 1]
                    after_s[kind].append(await exchange.left() - candidate.began_at - cut.at_s)
            await candidate.until("audio", sounds + 3)
            assert len(elsewhere.llm.asked(scene)) == len(elsewhere.tts.asked(reply)) == turn + 1
        await candidate.end()
        await candidate.until("report")
    for seconds in after_s.values():
        assert sorted(seconds)[len(seconds) // 2] < AT_ONCE_S
        assert max(seconds) < ON_A_BUSY_MACHINE_S
    assert await look.figure("relance_engine_attempts_total", outcome="cancelled") == cancelled + 2 * TIMES


def begun(answers: Any, text: str) -> Any:
    """Say one sentence, begin another, and keep the connection."""

    async def answer(exchange: Any) -> None:
        await exchange.start(answers.EVENTS)
        await exchange.part(answers.token(f"{text} It began"))
        await exchange.for_ever()

    return answer


async def test_cutting_in_stops_the_voice(
    misled: Any, false_llm: Any, sit: Any, dickens: Any, worker_port: Any, read_figure: Any, processes: Any
) -> None:
    """The worker's place for a voice is free at once, and the clause in progress is the last one that it makes.

    That it makes no other one shows by the processor: once it has spoken a word for somebody else, it rests.
    """
    false_llm.tell(f"{LONG}. {LONG}.")
    pid = processes.running(misled.process.pid, "engines.worker")
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{worker_port(misled)}/v1", timeout=90) as worker:

        async def voice_jobs() -> float:
            return float(read_figure((await worker.get("/metrics")).text, "relance_worker_lane_jobs", lane="tts"))

        async with sit(misled, "t2", "impatient") as candidate:
            await candidate.say(dickens(9, 11))
            await candidate.until("audio")
            assert await voice_jobs() == 1
            await candidate.say(dickens(0.7, 2.7))
            cut = await candidate.until("interrupted")
            while await voice_jobs():
                pass
            free_s = candidate.now_s - cut.at_s
            await candidate.end()
            await candidate.until("report")
        (await worker.post("/audio/speech", json={"input": "Yes.", "response_format": "pcm"})).raise_for_status()
        before_s = processes.processor_s(pid)
        await asyncio.sleep(RESTS_S)  # what does not happen is looked at for a while
        worked_s = processes.processor_s(pid) - before_s
    assert free_s < ON_A_BUSY_MACHINE_S
    assert worked_s < 0.1 * RESTS_S
