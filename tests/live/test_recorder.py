"""A production grows with its session and is handed to the evaluation once; whatever fails is told."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest
from structlog.testing import capture_logs

from server.exam.facts import Evaluated, EvaluationFailed, Fact, RecordFailed, UtteranceHeard
from server.live.production import Production
from server.live.recorder import Recorder


class Desk:
    """A recorder at work over a store in memory."""

    def __init__(self, fakes: ModuleType) -> None:
        self.store, self.evaluator = fakes.MemoryProductions(), fakes.TimedEvaluator()
        self.facts: list[Fact] = []
        self.production = Production(
            self.store,
            user_id="sofia",
            tache="EO_T1",
            sujet_id=None,
            langue="fr",
            instance="here",
            elapsed_ms=lambda: 1_234,
            latency=lambda: {"stt": {"count": 1}},
        )

    @asynccontextmanager
    async def at_work(self) -> Any:
        recorder = Recorder(self.production, self.evaluator, self.facts.append)
        task = asyncio.ensure_future(recorder.run())
        yield recorder
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled(), f"the recorder died: {task.exception()!r}"


@pytest.mark.parametrize("verb", ["open", "grow", "close"])
async def test_a_final_record_that_fails_is_told_and_not_evaluated(fakes: ModuleType, verb: str) -> None:
    """Whichever of its writes fails: the final record is not there, so there is nothing to evaluate."""
    desk = Desk(fakes)
    desk.store.fails = lambda tried, count: tried == verb
    async with desk.at_work() as recorder:
        recorder.record("Candidat : bonjour", final=True)
        await recorder.evaluate()
    assert desk.facts == [RecordFailed(final=True)]
    assert desk.evaluator.submitted == []


async def test_a_failure_in_the_middle_is_made_good_by_the_next_record(fakes: ModuleType) -> None:
    """Each record holds the whole transcript: what one could not store, the next one does."""
    desk = Desk(fakes)
    desk.store.fails = lambda verb, count: count <= 2
    async with desk.at_work() as recorder:
        for lines in ("un", "un deux", "un deux trois"):
            recorder.record(lines, final=False)
            await recorder.settled()
    assert desk.facts == [RecordFailed(final=False)] * 2
    assert (desk.store.only.transcript, desk.store.only.statut) == ("un deux trois", "open")


async def test_a_failure_is_logged_without_what_was_said(fakes: ModuleType) -> None:
    """The log names the event and the error's type; the words stay out of it."""
    desk = Desk(fakes)
    desk.store.fails = lambda verb, count: True
    with capture_logs() as logs:
        async with desk.at_work() as recorder:
            recorder.record("Candidat : secret", final=True)
            await recorder.settled()
    assert logs == [{"event": "record_failed", "log_level": "error", "final": True, "error": "StoreError"}]


async def test_nothing_asked_for_leaves_no_row(fakes: ModuleType) -> None:
    """A session without a word opens no production."""
    desk = Desk(fakes)
    async with desk.at_work() as recorder:
        await recorder.settled()
    assert desk.store.rows == {}


async def test_writes_that_wait_are_made_as_one(fakes: ModuleType) -> None:
    """A store slower than the turns falls behind by one record, not by all of them."""
    desk = Desk(fakes)
    desk.store.write_s = 10.0
    async with desk.at_work() as recorder:
        for count in range(50):
            recorder.record(f"ligne {count}", final=False)
            await asyncio.sleep(0.1)
        await recorder.settled()
    assert desk.store.writes == ["open", "grow", "grow"]
    assert desk.store.only.transcript == "ligne 49"


async def test_the_final_record_is_never_merged_away(fakes: ModuleType) -> None:
    """However many records wait, the final one closes the production, and is evaluated once."""
    desk = Desk(fakes)
    desk.store.write_s = 1.0
    async with desk.at_work() as recorder:
        for count in range(5):
            recorder.record(f"ligne {count}", final=False)
        recorder.record("tout", final=True)
        await recorder.evaluate()
    assert (desk.store.only.transcript, desk.store.only.statut) == ("tout", "recorded")
    assert len(desk.evaluator.submitted) == 1
    assert desk.facts == [Evaluated({"score": 12})]


async def test_the_row_holds_utterances_duration_and_latency(fakes: ModuleType) -> None:
    """What the evaluation measures fluency from, and what was measured of the session, is stored with the words."""
    desk = Desk(fakes)
    desk.production.hear(UtteranceHeard(1, "bonjour", 100, 900, 500, 0.8, pauses_ms=(300,)))
    async with desk.at_work() as recorder:
        recorder.record("Candidat : bonjour", final=True)
        await recorder.settled()
    row = desk.store.only
    (utterance,) = row.utterances
    assert (utterance["text"], utterance["speech_ms"], utterance["pauses_ms"]) == ("bonjour", 500, (300,))
    assert (row.duration_ms, row.latency) == (1_234, {"stt": {"count": 1}})


async def test_no_report_is_told(fakes: ModuleType) -> None:
    """The evaluation's failure is a fact; the production stays as it was recorded."""
    desk = Desk(fakes)
    desk.evaluator.report = None
    async with desk.at_work() as recorder:
        recorder.record("Candidat : bonjour", final=True)
        await recorder.evaluate()
    assert desk.facts == [EvaluationFailed()]
    assert desk.store.only.statut == "recorded"


async def test_an_evaluation_outlives_the_session_that_waits_for_it(fakes: ModuleType) -> None:
    """Cancelling whoever waits for the report does not cancel the evaluation."""
    desk = Desk(fakes)
    async with desk.at_work() as recorder:
        recorder.record("Candidat : bonjour", final=True)
        waiting = asyncio.ensure_future(recorder.evaluate())
        await asyncio.sleep(1)
        waiting.cancel()
        await asyncio.sleep(10)
    assert (len(desk.evaluator.submitted), desk.evaluator.cancelled) == (1, 0)
    assert desk.facts == []
