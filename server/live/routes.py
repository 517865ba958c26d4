"""The WebSocket routes of the two tasks: who may enter, and by which close code the others are told why not.

A refused client must see its close code, so the handshake is accepted first, and then closed.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from server.admission import Full
from server.auth import AuthRequired, Identity, websocket_credentials
from server.exam.guard import PassiveScreen, RelanceScreen
from server.exam.interview import Interview
from server.exam.roleplay import Roleplay, Subject
from server.exam.sitting import Sitting
from server.live.contracts import INTERVIEW, ROLEPLAY, Contract
from server.live.production import Production
from server.live.session import Engines, Session, Terms
from server.live.stages import Stages
from server.speech.endpoint import EndpointRules
from server.store.errors import StoreError
from server.wire import closes
from server.wire.closes import CloseCode

if TYPE_CHECKING:
    from server.live.services import Services

PERMISSION = "oral_t2_live"
"""What a plan must grant; task 1 uses it as well."""

SEGMENT_SILENCE_MS = 600
"""Silence after which a stretch of speech is recognised on its own."""

log = structlog.get_logger()


class Refused(Exception):
    """The client may not enter; ``close`` says why, ``reason`` is the metrics' word."""

    def __init__(self, close: CloseCode, reason: str | None = None) -> None:
        super().__init__(f"refused with {close.code} {close.reason}")
        self.close = close
        self.reason = reason or close.reason


def websocket_routes(services: Services) -> list[WebSocketRoute]:
    """Return the routes of both tasks."""
    doors = (Door(services, INTERVIEW), Door(services, ROLEPLAY))
    return [WebSocketRoute(door.contract.route, door.enter) for door in doors]


class Door:
    """The way into one task's sessions."""

    def __init__(self, services: Services, contract: Contract) -> None:
        self._services = services
        self.contract = contract

    async def enter(self, socket: WebSocket) -> None:
        """Serve one connection from handshake to close."""
        credentials = websocket_credentials(socket)
        await socket.accept(subprotocol=credentials.subprotocol)
        try:
            identity = await self._identify(credentials.token)
            sitting, sujet_id = await self._sitting(socket)
            engines = self._engines()
            with self._services.admission.place(identity.sub, self.contract.name):
                await self._conduct(socket, identity, sitting, sujet_id, engines)
        except Refused as refused:
            await self._refuse(socket, refused.close, refused.reason)
        except Full as full:
            await self._refuse(socket, closes.TRY_AGAIN_LATER, full.reason)
        except StoreError:
            await self._refuse(socket, closes.PERSISTENCE_FAILED, closes.PERSISTENCE_FAILED.reason)

    async def _refuse(self, socket: WebSocket, close: CloseCode, reason: str) -> None:
        self._services.metrics.refused(self.contract.name, reason)
        log.info("session_refused", task=self.contract.name, close_code=close.code, reason=reason)
        with suppress(RuntimeError, WebSocketDisconnect):
            await socket.close(close.code, close.reason)

    async def _identify(self, token: str | None) -> Identity:
        try:
            identity = await self._services.authenticator.authenticate(token)
        except AuthRequired:
            raise Refused(closes.AUTH_REQUIRED) from None
        if not self._services.settings.permits(identity.plan, PERMISSION):
            raise Refused(closes.PLAN_INSUFFICIENT)
        return identity

    def _engines(self) -> Engines:
        services = self._services
        if services.failed:
            raise Refused(self.contract.unavailable)
        if services.engines is None:
            raise Refused(closes.TRY_AGAIN_LATER, "starting")
        return services.engines

    async def _sitting(self, socket: WebSocket) -> tuple[Sitting, UUID | None]:
        settings, engines = self._services.settings, self._services.engines
        language = settings.language
        if self.contract is INTERVIEW:
            rng = random.Random(settings.t1_seed)  # noqa: S311 - a draw of times, no secret
            lead = engines.lead if engines else None
            return Interview(settings.interview_rules(), language, rng, lambda: RelanceScreen(language), lead), None
        sujet_id = await self._subject_id(socket.query_params.get("sujet", ""))
        sujet = await self._services.store.subjects.get(sujet_id)
        if sujet is None or not sujet.actif or (sujet.mode, sujet.tache) != ("EO", 2):
            raise Refused(closes.SUJET_NOT_FOUND)
        subject, rules = Subject(sujet.role, sujet.contexte, sujet.consigne), settings.roleplay_rules()
        has_room = engines.load.has_room if engines else lambda: False
        return Roleplay(rules, language, subject, lambda: PassiveScreen(language), has_room), sujet_id

    @staticmethod
    async def _subject_id(text: str) -> UUID:
        try:
            return UUID(text)
        except ValueError:
            raise Refused(closes.SUJET_NOT_FOUND) from None

    async def _conduct(
        self, socket: WebSocket, identity: Identity, sitting: Sitting, sujet_id: UUID | None, engines: Engines
    ) -> None:
        services, task = self._services, self.contract.name
        clock = asyncio.get_running_loop().time
        begun = clock()
        stages = Stages(clock, partial(services.metrics.stage, task))
        production = Production(
            services.store.productions,
            user_id=identity.sub,
            tache=self.contract.tache,
            sujet_id=sujet_id,
            langue=engines.language,
            instance=services.settings.instance,
            elapsed_ms=lambda: round((clock() - begun) * 1000),
            latency=stages.latency,
        )
        session = Session(socket, sitting, engines, self._terms(socket), production, services.evaluations, stages)
        services.metrics.session_started(task)
        close_code = closes.SHUTTING_DOWN.code
        try:
            with services.running(session):
                close_code = (await session.run()).code
        except Exception as error:
            log.error("session_crashed", task=task, error=_names(error))
            close_code = closes.ENGINE_FAILED.code
            await self._salvage(socket, sitting, production)
        finally:
            services.metrics.session_ended(task, close_code)
            guesses = sitting.speculations
            services.metrics.speculations(confirmed=guesses.confirmed, wasted=guesses.wasted)
            services.metrics.tokens(read=stages.tokens_in, written=stages.tokens_out)
            log.info(
                "session_ended",
                task=task,
                production=production.id and str(production.id),
                duration_ms=round((clock() - begun) * 1000),
                turns=sitting.turns,
                relances=sitting.relances,
                speculations_confirmed=guesses.confirmed,
                speculations_wasted=guesses.wasted,
                tokens_in=stages.tokens_in,
                tokens_out=stages.tokens_out,
                close_code=close_code,
                stages=stages.latency(),
            )

    async def _salvage(self, socket: WebSocket, sitting: Sitting, production: Production) -> None:
        if production.id is not None:
            with suppress(StoreError):
                await production.write(sitting.transcript, final=True)
                self._services.evaluations.submit(production.user_id, production.id)
        with suppress(RuntimeError, WebSocketDisconnect):  # the socket may have gone before
            await socket.close(closes.ENGINE_FAILED.code, closes.ENGINE_FAILED.reason)

    def _terms(self, socket: WebSocket) -> Terms:
        settings = self._services.settings
        roleplay = self.contract is ROLEPLAY
        silence_ms = settings.t2_silence_ms if roleplay else None
        segment_silence_ms = min(SEGMENT_SILENCE_MS, silence_ms or SEGMENT_SILENCE_MS)
        return Terms(
            contract=self.contract,
            captions=socket.query_params.get("captions") == "1",
            endpoint=EndpointRules(
                segment_silence_ms=segment_silence_ms,  # a segment ends with its turn at the latest
                turn_silence_ms=silence_ms,
                manual=roleplay and socket.query_params.get("vad") == "manual",
            ),
            reply_timeout_s=settings.reply_timeout_s,
            max_backlog_s=settings.max_backlog_s,
            idle_timeout_s=settings.idle_timeout_s,
        )


def _names(error: Exception) -> str:
    """Return the types of ``error`` and of what it groups; its text may hold what was said."""
    if isinstance(error, ExceptionGroup):
        return ", ".join(_names(part) for part in error.exceptions)
    return type(error).__name__
