"""What changes beside the sessions: children that are started again, engines that are skipped and come back."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from engines.breaker import Breaker
from engines.setup import Kind
from engines.supervision import Supervised
from server.metrics import Metrics

PERIOD_S: Final = 1.0

log = structlog.get_logger()


class Watch:
    """Looks at ``children`` and ``breakers``, by their names in the settings, and tells metrics and log."""

    def __init__(self, metrics: Metrics) -> None:
        self.children: dict[Kind, Supervised] = {}
        self.breakers: dict[str, Breaker] = {}
        self._metrics = metrics
        self._restarts: dict[str, int] = {}
        self._skipped: set[str] = set()

    def states(self) -> dict[str, str]:
        """Return the state of each kind that a child serves."""
        return {kind: child.state for kind, child in self.children.items()}

    async def run(self) -> None:
        """Look every second until cancelled."""
        while True:
            self._look()
            await asyncio.sleep(PERIOD_S)

    def _look(self) -> None:
        for child in set(self.children.values()):
            for _ in range(child.restarts - self._restarts.get(child.name, 0)):
                self._metrics.process_restarted(child.name)
            self._restarts[child.name] = child.restarts
        for name, breaker in self.breakers.items():
            self._metrics.engine_skipped(name, breaker.is_open)
        skipped = {name for name, breaker in self.breakers.items() if breaker.is_open}
        for name in skipped - self._skipped:
            log.warning("engine_skipped", backend=name)
        for name in self._skipped - skipped:
            log.info("engine_back", backend=name)
        self._skipped = skipped
