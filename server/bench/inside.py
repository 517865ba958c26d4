"""What the server says about itself: its histograms on ``/metrics``, and the ``latency`` of a stored production."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from server.bench.record import Stage
from server.client.seat import Seat

TIMEOUT_S = 10.0
LAG_LIMIT_S = 0.02
"""The event loop must never be blocked for longer; a bound of the lag's histogram."""

_STAGES = "relance_stage_seconds"
_LAG = "relance_event_loop_lag_seconds"


@dataclass(frozen=True, slots=True)
class Counted:
    """The server's counters at one moment.

    ``stages`` by name; ``lags`` is the cumulative histogram of the event loop's lag, by upper bound in seconds.
    """

    stages: Mapping[str, Stage] = field(default_factory=dict)
    lags: Mapping[float, int] = field(default_factory=dict)

    def stages_since(self, before: Counted) -> dict[str, Stage]:
        """Return what the stages have grown by, without those that have not."""
        none = Stage(0, 0.0)
        grown = {
            name: Stage(now.count - then.count, round(now.total_ms - then.total_ms, 3))
            for name, now in self.stages.items()
            for then in [before.stages.get(name, none)]
        }
        return {name: stage for name, stage in grown.items() if stage.count > 0}

    def lags_since(self, before: Counted) -> dict[float, int]:
        """Return how many of the lags since ``before`` were at most so many seconds."""
        return {bound: count - before.lags.get(bound, 0) for bound, count in self.lags.items()}


class Inside:
    """Asks one server. A server that does not answer gives nothing: what is measured outside stands without it."""

    def __init__(self, seat: Seat, client: httpx.AsyncClient) -> None:
        self._seat = seat
        self._client = client

    async def counted(self, task: str) -> Counted:
        """Return the counters now, stages those of ``task``."""
        answer = await self._get("/metrics")
        try:
            return read_metrics(answer.text, task) if answer is not None else Counted()
        except ValueError:  # something else answers there
            return Counted()

    async def stored_latency(self) -> dict[str, dict[str, float]]:
        """Return ``{stage: {count, p50, p95, max}}`` in ms, of the candidate's newest production."""
        newest = await self._json("/productions?limit=1")
        if not isinstance(newest, list) or not newest:
            return {}
        whole = await self._json(f"/productions/{newest[0]['id']}")
        latency = whole.get("latency") if isinstance(whole, dict) else None
        return {name: told for name, told in (latency or {}).items() if "count" in told}

    async def _json(self, path: str) -> Any:
        answer = await self._get(path)
        try:
            return answer.json() if answer is not None else None
        except ValueError:
            return None

    async def _get(self, path: str) -> httpx.Response | None:
        headers = {"Authorization": f"Bearer {self._seat.token}"}
        try:
            answer = await self._client.get(f"{self._seat.address.web}{path}", headers=headers, timeout=TIMEOUT_S)
        except httpx.HTTPError:
            return None
        return answer if answer.is_success else None


def read_metrics(text: str, task: str) -> Counted:
    """Return the counters in ``text``, Prometheus's format. Raises :class:`ValueError` when it is none."""
    counts: dict[str, int] = {}
    totals: dict[str, float] = {}
    lags: dict[float, int] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            stage = sample.labels.get("stage", "") if sample.labels.get("task") == task else ""
            match sample.name:
                case name if name == f"{_STAGES}_count" and stage:
                    counts[stage] = int(sample.value)
                case name if name == f"{_STAGES}_sum" and stage:
                    totals[stage] = sample.value * 1000
                case name if name == f"{_LAG}_bucket":
                    lags[float(sample.labels["le"])] = int(sample.value)
    return Counted({stage: Stage(count, totals.get(stage, 0.0)) for stage, count in counts.items()}, lags)
