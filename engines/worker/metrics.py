"""The worker's figures for Prometheus: counts and durations, never content."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from engines.worker.lane import Lane

_OF_LANES: Final = (
    (GaugeMetricFamily, "jobs", "Jobs open in a lane, waiting ones included.", attrgetter("open_jobs")),
    (GaugeMetricFamily, "running", "Steps on a lane's one thread.", attrgetter("running")),
    (GaugeMetricFamily, "waiting", "Jobs whose next step waits for a lane's thread.", attrgetter("waiting")),
    (CounterMetricFamily, "steps", "Steps that a lane's thread has begun.", attrgetter("steps_begun")),
)


class Metrics:
    """One worker's metrics in a registry of their own."""

    def __init__(self, lanes: tuple[Lane, ...]) -> None:
        self._registry = CollectorRegistry()
        self._lanes = lanes
        self.requests = Counter(
            "relance_worker_requests", "Requests answered.", ("route", "status"), registry=self._registry
        )
        self.seconds = Histogram(
            "relance_worker_request_seconds", "Time from request to last byte.", ("route",), registry=self._registry
        )
        self._registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the lanes' figures as they are now (a collector of prometheus_client)."""
        for family, name, told, figure in _OF_LANES:
            metric = family(f"relance_worker_lane_{name}", told, labels=("lane",))
            for lane in self._lanes:
                metric.add_metric((lane.name,), figure(lane))
            yield metric

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self._registry)
