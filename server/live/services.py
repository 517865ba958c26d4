"""What one server is made of, alive inside its async context: store, engines, admission, evaluation, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from types import TracebackType
from typing import Self

import httpx
import structlog

from engines.protocols import LanguageModel
from server.admission import Admission
from server.alongside import alongside
from server.auth import Authenticator
from server.exam.facts import LimitExceeded
from server.live.engine_room import EngineRoom
from server.live.evaluations import Evaluations
from server.live.session import Engines, Session
from server.metrics import Metrics
from server.settings import Settings
from server.store.store import Store
from server.wire import closes

LAST_WORDS_S = 15.0
"""How long sessions that are told to end may take to store what was said."""

log = structlog.get_logger()


class Services:
    """See :class:`server.http.services.Services`; the live routes need the rest."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.store = Store(settings.database_url)
        self.admission = Admission(
            max_sessions=settings.max_sessions,
            max_t2_sessions=settings.max_t2_sessions,
            max_sessions_per_user=settings.max_sessions_per_user,
        )
        self.evaluations = Evaluations(self.store, self._llm, settings.phonology, settings.evaluation_timeout_s)
        self._room = EngineRoom(settings, self.metrics)
        self._sessions: set[Session] = set()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open the store and begin to start the engines. Raises :class:`server.store.errors.StoreError`."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.store)
            client = await stack.enter_async_context(httpx.AsyncClient(follow_redirects=False))
            self.authenticator = Authenticator.of(self.settings, self.store.profiles.plan_of, client)
            await stack.enter_async_context(alongside(self._room.run()))
            stack.push_async_callback(self.evaluations.close)
            if left := await self.evaluations.resume(self.settings.instance):
                log.info("evaluations_resumed", productions=left)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the evaluations and the engines, and close the store."""
        await self._stack.aclose()

    @property
    def engines(self) -> Engines | None:
        """What sessions are conducted with; ``None`` before all are proven."""
        return self._room.engines

    @property
    def failed(self) -> bool:
        """Whether the engines cannot run with these settings."""
        return self._room.failure is not None

    @property
    def ready(self) -> bool:
        """Whether every engine is loaded and proven by one real inference."""
        return self._room.ready

    def readiness(self) -> dict[str, str]:
        """Return each engine's state, a word."""
        return self._room.readiness()

    @contextmanager
    def running(self, session: Session) -> Iterator[None]:
        """Keep ``session`` among those that are told when the server stops."""
        self._sessions.add(session)
        try:
            yield
        finally:
            self._sessions.discard(session)

    async def drain(self, grace_s: float) -> None:
        """Admit no more sessions, let the running ones end for ``grace_s`` seconds, then end what is left, stored."""
        self.admission.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self.admission.emptied()
        for session in self._sessions:
            session.post(LimitExceeded(closes.SHUTTING_DOWN.code, closes.SHUTTING_DOWN.reason))
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                await self.admission.emptied()

    async def _llm(self) -> LanguageModel:
        return (await self._room.proven()).llm
