"""What the edges need of the running server. The live services are it; a test may give its own."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

from server.auth import Authenticator
from server.metrics import Metrics
from server.settings import Settings
from server.store.store import Store


class Services(Protocol):
    """The parts of one server, alive inside its async context."""

    @property
    def settings(self) -> Settings:
        """What the operator chose."""

    @property
    def store(self) -> Store:
        """Profiles, subjects, productions."""

    @property
    def authenticator(self) -> Authenticator:
        """Checks tokens."""

    @property
    def metrics(self) -> Metrics:
        """What ``/metrics`` shows."""

    @property
    def ready(self) -> bool:
        """Whether every engine is loaded and proven by one real inference."""

    def readiness(self) -> Mapping[str, str]:
        """Return each engine's state, a word."""

    async def drain(self, grace_s: float) -> None:
        """Admit no more sessions, let the running ones end for ``grace_s`` seconds, then end what is left, stored."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
