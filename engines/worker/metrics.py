"""The worker's figures for Prometheus: counts and durations, never content."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from engines.worker.lane import Lane


class Metrics:
    """One worker's metrics in a registry of their own."""

    def __init__(self, lanes: tuple[Lane, ...]) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "relance_worker_requests", "Requests answered.", ("route", "status"), registry=self._registry
        )
        self.seconds = Histogram(
            "relance_worker_request_seconds", "Time from request to last byte.", ("route",), registry=self._registry
        )
        open_jobs = Gauge(
            "relance_worker_lane_jobs",
            "Jobs open in a lane, waiting ones included.",
            ("lane",),
            registry=self._registry,
        )
        for lane in lanes:
            open_jobs.labels(lane.name).set_function(partial(getattr, lane, "open_jobs"))

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self._registry)
