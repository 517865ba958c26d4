"""How an exam ends: each close code that comes after an accepted candidate, and the terminal flush."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing, contextmanager

import numpy as np
import pytest

IN_FLIGHT = 1
"""Audio frames that may be on their way when the server has read ``end`` and not yet acted on it."""


def frames_after(account, place, *kinds):
    """Return the kinds of the frames after the first ``place`` ones, of these kinds only."""
    return [heard.kind for heard in account.heard[place:] if heard.kind in kinds]


EXAMINER = ("modelTurn", "audio", "turnComplete", "interruption_start", "interruption_end", "interrupted")


STILL_S = 1.2
"""How long the examiner is listened for after ``end``: longer than the second by which audio may be sent ahead."""


async def say_end(candidate):
    """Say ``end``; return how many frames had come when the server had received it. Listens on for a while."""
    await candidate.say("end")
    await candidate.catch_up()
    place = len(candidate.heard)
    await candidate.hears_within(STILL_S)
    return place


@pytest.mark.parametrize("task", ["t1", "t2"])
async def test_words_cut_by_the_end_are_kept(sit, speech_server, human, task):
    """``end`` in the middle of "wisdom", sent faster than anyone listens: what came before it is all there."""
    async with sit(speech_server, task) as candidate:
        await candidate.speak(human(0.7, 6.0))
        await candidate.say("end")
        account = await candidate.over()
    assert all(words in account.transcript for words in ("best of times", "worst of times", "the age of"))
    assert account.kinds == ["report"]
    assert account.close == (1000, "")


async def test_the_end_in_the_middle_of_a_relance_cuts_it(sit, speech_server, human, llm):
    """No audio, no text, no end of interruption after it; the transcript has the part that was heard."""
    async with sit(speech_server, "t1", captions="1") as candidate:
        await candidate.speak(human(0.7, 2.9))
        for _ in range(14):
            await candidate.hear("modelTurn")
        with llm.holding_evaluations():
            place = await say_end(candidate)
        account = await candidate.over()
    assert frames_after(account, place, *EXAMINER) in ([], ["modelTurn"] * IN_FLIGHT)
    assert [caption["role"] for caption in account.all("caption") if caption["role"] == "examiner"] == []
    candidate_line, examiner_line = account.transcript.splitlines()
    assert "best of times" in candidate_line
    assert examiner_line.startswith("Examiner: ")
    assert not examiner_line.endswith("?")
    assert account.kinds[-1] == "report"
    assert account.close == (1000, "")


async def test_the_end_in_the_middle_of_an_answer_cuts_it(sit, speech_server, spoken, client, scripted, llm):
    """Task 2: no audio and no ``turnComplete`` after it; the transcript has the part that was heard."""
    async with sit(speech_server, "t2") as candidate:
        await candidate.speak(np.concatenate([spoken("rent"), client.silence(1.5)]))
        for _ in range(20):
            await candidate.hear("audio")
        with llm.holding_evaluations():
            place = await say_end(candidate)
        account = await candidate.over()
    assert frames_after(account, place, *EXAMINER) in ([], ["audio"] * IN_FLIGHT)
    heard = account.transcript.splitlines()[1].removeprefix("Examiner: ")
    assert 0 < len(heard) < len(scripted.REPLY)
    assert scripted.REPLY.startswith(heard.rstrip(" …"))
    assert account.close == (1000, "")


async def test_no_relance_begins_after_the_end(sit, speech_server, human, llm):
    """The drawn time comes while the evaluation still goes on: the examiner stays silent."""
    async with sit(speech_server, "t1") as candidate:
        await candidate.speak(human(0.7, 2.9))
        with llm.holding_evaluations():
            await candidate.say("end")
            assert await candidate.hears_nothing(3.5)
        account = await candidate.over()
    assert account.kinds == ["report"]
    assert len(account.transcript.splitlines()) == 1


@pytest.mark.parametrize("task", ["t1", "t2"])
async def test_the_end_said_twice_makes_one_report(sit, speech_server, human, task):
    """At once, after a moment, and once the report has come: one report, one close, one production."""
    async with sit(speech_server, task, sub=f"insistent-{task}") as candidate:
        await candidate.speak(human(0.7, 2.9))
        await candidate.say("end")
        await candidate.say("end")
        await candidate.catch_up()
        await candidate.say("end")
        await candidate.hear("report")
        await candidate.say("end")
        account = await candidate.over()
    assert account.kinds == ["report"]
    assert account.close == (1000, "")


async def test_audio_after_the_end_is_not_heard(sit, speech_server, human):
    """What comes once the end was asked for is no part of the exam."""
    async with sit(speech_server, "t2") as candidate:
        await candidate.speak(human(0.7, 2.9))
        await candidate.say("end")
        await candidate.speak(human(17.4, 20.5))
        account = await candidate.over()
    assert "best of times" in account.transcript
    assert "winter" not in account.transcript


async def test_the_end_and_the_timeout_at_one_moment_make_one_report(sit, speech_server, human, llm):
    """Five candidates say ``end`` within the last ten milliseconds, one relance is being spoken: one report each."""
    delays_s = (0, 0.002, 0.004, 0.008, 0.012)
    all_still = asyncio.Barrier(len(delays_s) + 1)

    async def exam(delay_s):
        async with sit(speech_server, "t1") as candidate:
            await candidate.speak(human(0.7, 2.9))
            await candidate.hear("warning")
            await candidate.hears_within(delay_s)
            place = await say_end(candidate)
            await all_still.wait()
            return place, await candidate.over()

    with llm.holding_evaluations():
        sitting = [asyncio.create_task(exam(delay_s)) for delay_s in delays_s]
        await all_still.wait()
    for place, account in await asyncio.gather(*sitting):
        assert account.kinds.count("report") == 1
        assert account.kinds[-1] == "report"
        assert len(frames_after(account, place, *EXAMINER)) <= IN_FLIGHT
        assert "best of times" in account.transcript
        assert account.close == (1000, "")


async def test_a_client_that_sends_nothing_meets_the_timeout(sit, speech_server):
    """Timers do not hang on frames: a relance, the warning, the end, and nothing to report."""
    async with sit(speech_server, "t1") as candidate:
        account = await candidate.over()
    assert account.kinds[0] == "interruption_start"
    assert account.kinds.count("warning") == 1
    assert [error["code"] for error in account.all("error")] == ["EMPTY_TRANSCRIPT"]
    assert account.close == (1000, "")


def leaves_by_closing(candidate):
    return candidate.socket.close()


async def breaks_off(candidate):
    candidate.vanish()


@pytest.mark.parametrize("task", ["t1", "t2"])
@pytest.mark.parametrize("leave", [leaves_by_closing, breaks_off])
async def test_a_client_that_is_gone_leaves_its_production(sit, speech_server, human, stored, task, leave):
    """No ``end`` was said: the production is stored all the same, and evaluated in the background."""
    sub = f"gone-{task}-{leave.__name__}"
    async with sit(speech_server, task, sub=sub) as candidate:
        await candidate.speak(human(0.7, 4.7))
        await candidate.catch_up()
        await leave(candidate)
        production = await asyncio.to_thread(stored, speech_server, sub, "evaluated")
    assert "best of times" in production["transcript"]
    assert "worst of times" in production["transcript"]
    assert production["rapport"]["transcript"] == production["transcript"]


async def test_a_client_that_said_nothing_leaves_nothing(sit, speech_server, production_list):
    """Gone without a word: there is no production."""
    async with sit(speech_server, "t2", sub="mute") as candidate:
        await candidate.catch_up()
    assert production_list(speech_server, "mute") == []


async def test_an_engine_that_fails_twice_closes_with_4006(sit, speech_server, spoken, client, llm, stored):
    """The candidate hears nothing more; what was said is stored, its evaluation put off until the engine is back."""
    with llm.failing():
        async with sit(speech_server, "t2", sub="unlucky") as candidate:
            await candidate.speak(np.concatenate([spoken("rent"), client.silence(1.5)]))
            account = await candidate.over()
        production = await asyncio.to_thread(stored, speech_server, "unlucky", "recorded")
    assert account.close == (4006, "GEMINI_DISCONNECTED")
    assert account.heard == ()
    assert "rent" in production["transcript"]
    assert production["rapport"] is None


async def test_an_interview_survives_a_language_model_that_fails(sit, speech_server, human, llm):
    """Task 1: the drawn relance takes place all the same, from the bank."""
    async with sit(speech_server, "t1") as candidate:
        await candidate.speak(human(0.7, 8.4))
        with llm.failing():
            for _ in range(14):
                await candidate.hear("modelTurn")
        await candidate.say("end")
        account = await candidate.over()
    assert "Examiner: " in account.transcript
    assert account.close == (1000, "")


async def test_an_evaluation_that_is_none_closes_with_1011(sit, speech_server, human, llm, stored):
    """Asked twice, nonsense twice: an error, then 1011 CORRECTION_FAILED; the production and its transcript stay."""
    with llm.talking_nonsense():
        async with sit(speech_server, "t2", sub="uncorrected") as candidate:
            await candidate.speak(human(0.7, 2.9))
            await candidate.say("end")
            account = await candidate.over()
    (error,) = account.all("error")
    assert set(error) == {"type", "code", "message"}
    assert error["code"] == "CORRECTION_FAILED"
    assert account.kinds == ["error"]
    assert account.close == (1011, "CORRECTION_FAILED")
    production = await asyncio.to_thread(stored, speech_server, "uncorrected", "failed")
    assert "best of times" in production["transcript"]


@contextmanager
def without_productions(server):
    """Take the table of the productions away for a while."""
    with closing(sqlite3.connect(server.settings.data_dir / "relance.sqlite3", timeout=30)) as database:
        database.execute("ALTER TABLE productions RENAME TO productions_away")
        try:
            yield
        finally:
            database.execute("ALTER TABLE productions_away RENAME TO productions")


async def test_a_production_that_cannot_be_stored_closes_with_1011(sit, speech_server, human):
    """The database refuses: the error, then 1011 PERSISTENCE_FAILED, and no report of what is not stored."""
    async with sit(speech_server, "t2") as candidate:
        await candidate.speak(human(0.7, 2.9))
        with without_productions(speech_server):
            await candidate.say("end")
            account = await candidate.over()
    (error,) = account.all("error")
    assert set(error) == {"type", "code", "message"}
    assert error["code"] == "PERSISTENCE_FAILED"
    assert account.kinds == ["error"]
    assert account.close == (1011, "PERSISTENCE_FAILED")
