"""SIGKILL to a process that holds an engine, in mid-session: it costs a moment, and no session and no word."""

from __future__ import annotations

from functools import partial
from typing import Any

from server.exam.bank import Need, sentences


async def test_a_killed_worker_costs_no_session_and_no_word(
    misled: Any, false_llm: Any, sit: Any, watch: Any, processes: Any, dickens: Any, assert_on_time: Any
) -> None:
    """Task 1 and task 2 in mid-turn, and a relance about to be spoken.

    While the speech worker is dead the relance is heard all the same, from the bank. What was being said is understood
    once the worker is back, and stands before the relance that it preceded. Each exam ends with its own report.
    """
    look = watch(misled)
    restarts = await look.figure("relance_process_restarts_total", process="speech")
    false_llm.tell()
    async with sit(misled, "t2", "ben") as roleplay:
        await roleplay.say(dickens(0, 4))
        await roleplay.until("turnComplete")
        finished = roleplay.heard_as("candidate")
        false_llm.tell("What do you like most about the town that you have lived in for so long?")
        async with sit(misled, "t1", "ana") as interview:
            await interview.say(dickens(16, 24))
            await false_llm.asked_for_reply()
            false_llm.tell()
            await interview.say(dickens(24, 28))
            await roleplay.say(dickens(9, 11)[:-16_000])
            processes.kill(processes.running(misled.process.pid, "engines.worker"))
            await roleplay.say(dickens(11, 13))

            assert_on_time(await interview.until("interruption_start"))
            assert not await look.is_ready()
            await interview.until("interruption_end")
            await roleplay.until("turnComplete", 2)
            await look.until(look.is_ready)
            await look.until(partial(restarted, look, "speech", restarts))
            await interview.end()
            await roleplay.end()
            monologue = (await interview.until("report")).content["data"]["transcript"].splitlines()
            dialogue = (await roleplay.until("report")).content["data"]["transcript"].splitlines()
            assert await interview.until_closed() == await roleplay.until_closed() == (1000, "")

    candidate, examiner = monologue
    assert all(words in candidate for words in ("spring of hope", "winter of despair", "nothing before us", "heaven"))
    assert examiner.removeprefix("Examiner: ") in sentences("en", Need.RELANCE)
    assert dialogue[0] == f"Candidate: {' '.join(finished)}"
    assert [line.partition(":")[0] for line in dialogue] == ["Candidate", "Examiner", "Candidate", "Examiner"]
    assert "incredulity" in dialogue[2]


async def test_a_worker_that_is_killed_at_the_end_costs_no_last_words(
    misled: Any, false_llm: Any, sit: Any, processes: Any, dickens: Any
) -> None:
    """All that the candidate said is still to be recognised: it is waited for until the worker is back."""
    false_llm.tell()
    async with sit(misled, "t2", "zoe") as exam:
        processes.kill(processes.running(misled.process.pid, "engines.worker"))
        await exam.say(dickens(9, 13)[:-16_000])
        await exam.end()
        report = (await exam.until("report")).content["data"]
        assert await exam.until_closed() == (1000, "")
    assert "incredulity" in report["transcript"]


async def restarted(look: Any, process: str, times_before: float) -> bool:
    """Whether the metrics tell of one restart more."""
    return await look.figure("relance_process_restarts_total", process=process) == times_before + 1


async def test_a_killed_language_model_costs_no_session(
    server: Any, sit: Any, watch: Any, processes: Any, dickens: Any, assert_on_time: Any
) -> None:
    """Task 1: the drawn relance is heard on time. Task 2, while it is being asked: the answer comes after its restart.

    The evaluation needs it as well: the report comes.
    """
    look = watch(server)
    restarts = await look.figure("relance_process_restarts_total", process="llm")
    async with sit(server, "t1", "ana") as interview, sit(server, "t2", "ben") as roleplay:
        await interview.say(dickens(16, 24))
        await roleplay.say(dickens(9, 13))
        await roleplay.until("caption", role="candidate")
        processes.kill(processes.running(server.process.pid, "engines.llamacpp"))

        assert_on_time(await interview.until("interruption_start"))
        await interview.until("caption", role="examiner")
        await roleplay.until("audio")
        await look.until(look.is_ready)
        await look.until(partial(restarted, look, "llm", restarts))
        await roleplay.end()
        assert (await roleplay.until("report")).content["data"]["tache"] == "EO_T2"
        assert await roleplay.until_closed() == (1000, "")
    kept = (await look.recorded("ana"))["transcript"].splitlines()
    assert [line.partition(":")[0] for line in kept] == ["Candidate", "Examiner"]
