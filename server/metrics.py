"""What ``/metrics`` shows. One registry for each server, none of it global; labels are words, never ids or content."""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

STAGE_BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 20, 60, 180)
LAG_BUCKETS_S = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1)
LAG_PERIOD_S = 0.1


class Metrics:
    """The figures of one server. Times are seconds; ``task`` is ``t1`` or ``t2``."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._active = Gauge("relance_sessions_active", "Live sessions now.", ["task"], registry=self.registry)
        self._ended = self._counter("relance_sessions", "Sessions that ended, by close code.", "task", "close_code")
        self._refused = self._counter("relance_refused", "Connections refused, by reason.", "task", "reason")
        self._stage = self._histogram("relance_stage_seconds", "Time of a stage of a turn.", "task", "stage")
        self._attempts = self._counter(
            "relance_engine_attempts", "Requests to engines, by outcome.", "engine", "style", "outcome"
        )
        self._engine_time = self._histogram("relance_engine_seconds", "Time of an engine's attempt.", "engine", "style")
        self._skipped = Gauge(
            "relance_engine_skipped",
            "1 while an engine is not asked because it failed.",
            ["backend"],
            registry=self.registry,
        )
        self._speculations = self._counter(
            "relance_speculations", "Replies prepared in pauses: said, or of no use.", "outcome"
        )
        self._tokens = self._counter("relance_tokens", "Tokens of the language model.", "direction")
        self._restarts = self._counter("relance_process_restarts", "Own processes started again.", "process")
        self._lag = Histogram(
            "relance_event_loop_lag_seconds",
            "How late the event loop wakes a task.",
            registry=self.registry,
            buckets=LAG_BUCKETS_S,
        )

    def session_started(self, task: str) -> None:
        """A session was admitted."""
        self._active.labels(task).inc()

    def session_ended(self, task: str, close_code: int) -> None:
        """A session that had been admitted is over."""
        self._active.labels(task).dec()
        self._ended.labels(task, str(close_code)).inc()

    def refused(self, task: str, reason: str) -> None:
        """A connection was refused; ``reason`` is a close reason or a limit's name."""
        self._refused.labels(task, reason).inc()

    def stage(self, task: str, stage: str, seconds: float) -> None:
        """A stage of a turn took ``seconds``."""
        self._stage.labels(task, stage).observe(seconds)

    def engine_attempt(self, engine: str, style: str, outcome: str, seconds: float) -> None:
        """A request to an engine ended; ``outcome`` is ``ok`` or the error's code."""
        self._attempts.labels(engine, style, outcome).inc()
        self._engine_time.labels(engine, style).observe(seconds)

    def engine_skipped(self, backend: str, skipped: bool) -> None:
        """Whether an engine (``llm``, ``llm_fallback``) is skipped now."""
        self._skipped.labels(backend).set(skipped)

    def speculations(self, *, confirmed: int, wasted: int) -> None:
        """So many replies that were prepared in a pause were said, and so many were of no use."""
        self._speculations.labels("confirmed").inc(confirmed)
        self._speculations.labels("wasted").inc(wasted)

    def tokens(self, *, read: int, written: int) -> None:
        """The language model read and wrote so many tokens."""
        self._tokens.labels("in").inc(read)
        self._tokens.labels("out").inc(written)

    def process_restarted(self, process: str) -> None:
        """An own process (``worker``, ``llama``) was started again."""
        self._restarts.labels(process).inc()

    def loop_lag(self, seconds: float) -> None:
        """The event loop woke a task ``seconds`` late."""
        self._lag.observe(seconds)

    def exposition(self) -> bytes:
        """Return everything in Prometheus's text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(name, text, labels, registry=self.registry, buckets=STAGE_BUCKETS_S)


async def watch_loop_lag(metrics: Metrics) -> None:
    """Measure the event loop's lag until cancelled: how much later than asked a short sleep returns."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + LAG_PERIOD_S
        await asyncio.sleep(LAG_PERIOD_S)
        metrics.loop_lag(max(0.0, loop.time() - due))
