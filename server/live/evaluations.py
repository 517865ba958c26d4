"""Evaluates stored productions, whatever became of the session that left them.

One path serves them all: a session that waits for its report, a client that left, and what a crash left behind. Once an
evaluation was submitted it goes on in the background; when the server stops before its end, the production stays
``recorded`` and is evaluated at the next start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict
from typing import Literal, cast
from uuid import UUID

import structlog

from engines.errors import EngineError
from engines.protocols import Delta, Language, LanguageModel, Message
from server.exam.evaluation import Assessment, InvalidAssessment, Task, evaluation_request, parse_assessment, schema
from server.exam.nclc import DEFAULT_TARGET
from server.exam.report import Phonology, build_report, stub_phonology
from server.speech.fluency import Utterance, measure, phonology_score
from server.store.errors import StoreError
from server.store.records import Production
from server.store.store import Store

TRIES = 2
"""How often the LLM is asked for a report before there is none."""

AT_ONCE = 1
"""Evaluations at once: one more would take the cores from the sessions that are still speaking."""

_TASKS: dict[str, Task] = {"EO_T1": "EO_T1", "EO_T2_LIVE": "EO_T2"}

Report = dict[str, object]

log = structlog.get_logger()


class Evaluations:
    """Evaluates in the background; :meth:`close` stops it. ``llm`` gives the model, once it is there."""

    def __init__(
        self,
        store: Store,
        llm: Callable[[], Awaitable[LanguageModel]],
        method: Literal["acoustic", "stub"],
        timeout_s: float,
    ) -> None:
        self._store = store
        self._llm = llm
        self._method = method
        self._timeout_s = timeout_s
        self._turnstile = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[Report | None]] = set()

    def submit(self, user_id: str, production_id: UUID) -> asyncio.Future[Report | None]:
        """Have a recorded production evaluated; the result is its report, or ``None`` when none can be had."""
        task = asyncio.create_task(self._evaluate(user_id, production_id), name=f"evaluate-{production_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def resume(self, instance: str) -> int:
        """Take up what an earlier process of this instance left, finished or not; return how much that is.

        To be called before the first session, whose production would be taken for one of those.
        """
        left = await self._store.productions.pending(instance)
        for production in left:
            if production.statut == "open":
                await self._store.productions.close(production.id, latency=production.latency)
            self.submit(production.user_id, production.id)
        return len(left)

    async def close(self) -> None:
        """Stop. What is not evaluated yet stays ``recorded``."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _evaluate(self, user_id: str, production_id: UUID) -> Report | None:
        async with self._turnstile:
            try:
                production = await self._store.productions.get(user_id, production_id)
                return None if production is None else await self._report(production)
            except (EngineError, StoreError) as error:  # it stays recorded: the next start tries again
                log.error("evaluation_put_off", production=str(production_id), error=type(error).__name__)
            except Exception as error:  # a fault of ours: nobody may wait for ever, nor the next evaluation suffer
                log.error("evaluation_crashed", production=str(production_id), error=type(error).__name__)
            return None

    async def _report(self, production: Production) -> Report | None:
        language = cast(Language, production.langue)
        assessment = await self._assess(production, language)
        if assessment is None:
            await self._store.productions.failed(production.id)
            log.error("evaluation_failed", production=str(production.id))
            return None
        report = build_report(
            production_id=str(production.id),
            tache=_TASKS[production.tache],
            assessment=assessment,
            phonology=self._phonology(production, language, assessment),
            transcript=production.transcript,
            duration_ms=production.duration_ms,
            latency=production.latency or {},
        )
        score, nclc = cast(int, report["score"]), cast(int, report["nclc"])
        await self._store.productions.evaluated(production.id, rapport=report, score=score, nclc=nclc)
        return report

    async def _assess(self, production: Production, language: Language) -> Assessment | None:
        profile = await self._store.profiles.get(production.user_id)
        target = profile.nclc_cible if profile and profile.nclc_cible else DEFAULT_TARGET
        task = _TASKS[production.tache]
        for attempt in range(TRIES):
            try:
                answer = await self._ask(task, language, production.transcript, target)
                return parse_assessment(answer, language, production.transcript)
            except InvalidAssessment as error:
                log.warning("evaluation_invalid", production=str(production.id), attempt=attempt + 1, reason=str(error))
            except EngineError as error:
                if attempt + 1 == TRIES:
                    raise
                log.warning("evaluation_broke_off", production=str(production.id), error=type(error).__name__)
        return None

    async def _ask(self, task: Task, language: Language, transcript: str, target: int) -> str:
        request = evaluation_request(task, language, transcript, target)
        messages = [Message(role, content) for role, content in request.messages]
        llm = await self._llm()
        stream = llm.stream(
            messages,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            schema=schema(),
            timeout_s=self._timeout_s,
        )
        async with aclosing(stream) as parts:
            return "".join([part.text async for part in parts if isinstance(part, Delta)])

    def _phonology(self, production: Production, language: Language, assessment: Assessment) -> Phonology:
        if self._method == "stub":
            return stub_phonology(assessment)
        utterances = [Utterance(**fields) for fields in production.utterances]
        figures = measure(utterances, language)
        rounded = {name: round(float(figure), 3) for name, figure in asdict(figures).items()}
        return Phonology(phonology_score(figures, language), "acoustic", rounded)
