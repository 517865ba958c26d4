"""What one session measures of itself: how long each stage of its turns took, and the tokens that it used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from engines.protocols import Usage

Observe = Callable[[str, float], None]


class Stages:
    """Collects durations by stage, for the production's ``latency``, and hands each on to the metrics.

    Stages: ``stt`` (one segment), ``llm_first_token``, ``llm`` (whole answer), ``tts_first_audio`` (one sentence),
    ``reply`` (prepare to first audio), ``gap`` (T2: end of the candidate's turn to the first audio frame).
    """

    def __init__(self, clock: Callable[[], float], observe: Observe) -> None:
        self.now = clock
        self._observe = observe
        self._samples_ms: dict[str, list[float]] = defaultdict(list)
        self.tokens_in = 0
        self.tokens_out = 0

    def since(self, stage: str, begun: float) -> None:
        """``stage`` began at ``begun`` (seconds of the same clock) and ends now."""
        self.took(stage, self.now() - begun)

    def took(self, stage: str, seconds: float) -> None:
        """``stage`` took ``seconds``."""
        self._samples_ms[stage].append(seconds * 1000)
        self._observe(stage, seconds)

    def draft(self) -> Draft:
        """Return the stages of work that may turn out not to be needed."""
        return Draft(self)

    def count_tokens(self, usage: Usage) -> None:
        """Add one request's tokens."""
        self.tokens_in += usage.prompt_tokens
        self.tokens_out += usage.completion_tokens

    def latency(self) -> dict[str, dict[str, float]]:
        """Return ``{stage: {count, p50, p95, max}}``, in milliseconds."""
        return {stage: _summary(sorted(samples)) for stage, samples in sorted(self._samples_ms.items())}


class Draft:
    """Stages of a reply in the making: they count from its commit on, and never when there is none.

    Tokens count at once: they were spent.
    """

    def __init__(self, stages: Stages) -> None:
        self.now = stages.now
        self.count_tokens = stages.count_tokens
        self._stages = stages
        self._held: list[tuple[str, float]] | None = []

    def since(self, stage: str, begun: float) -> None:
        """``stage`` began at ``begun`` (seconds of the same clock) and ends now."""
        seconds = self.now() - begun
        if self._held is None:
            self._stages.took(stage, seconds)
        else:
            self._held.append((stage, seconds))

    def commit(self) -> None:
        """The work is needed: what was held counts, and what comes does at once."""
        held, self._held = self._held or [], None
        for stage, seconds in held:
            self._stages.took(stage, seconds)


def _summary(samples: list[float]) -> dict[str, float]:
    def nearest_rank(share: float) -> float:
        return round(samples[min(len(samples) - 1, int(share * len(samples)))], 1)

    return {"count": len(samples), "p50": nearest_rank(0.5), "p95": nearest_rank(0.95), "max": round(samples[-1], 1)}
