"""What one session measures of itself: how long each stage of its turns took, and the tokens that it used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from engines.protocols import Usage

Observe = Callable[[str, float], None]


class Stages:
    """Collects durations by stage, for the production's ``latency``, and hands each on to the metrics.

    Stages: ``stt`` (one segment), ``llm_first_token``, ``llm`` (whole answer), ``tts_first_audio`` (one sentence),
    ``reply`` (prepare to first audio), ``gap`` (T2: end of the candidate's turn to the first audio frame; T1: drawn
    time, grace for a pause included, to that frame).
    """

    def __init__(self, clock: Callable[[], float], observe: Observe) -> None:
        self.now = clock
        self._observe = observe
        self._samples_ms: dict[str, list[float]] = defaultdict(list)
        self._turns = 0
        self._slowest: dict[str, float] = {}
        self.tokens_in = 0
        self.tokens_out = 0

    def since(self, stage: str, begun: float) -> None:
        """``stage`` began at ``begun`` (seconds of the same clock) and ends now."""
        self.took(stage, self.now() - begun)

    def took(self, stage: str, seconds: float) -> None:
        """``stage`` took ``seconds``."""
        self._samples_ms[stage].append(seconds * 1000)
        self._observe(stage, seconds)

    def answered(self, wanted_at: float, reply: Draft) -> None:
        """The first frame of ``reply`` went out now; it was wanted at ``wanted_at`` (seconds of the same clock)."""
        gap_s = self.now() - wanted_at
        self.took("gap", gap_s)
        self._turns += 1
        if gap_s * 1000 >= self._slowest.get("gap", 0.0):
            heard = self._samples_ms.get("stt", [0.0])[-1]
            self._slowest = {"turn": self._turns, "gap": gap_s * 1000, "stt": heard, **reply.parts_ms}

    def draft(self) -> Draft:
        """Return the stages of work that may turn out not to be needed."""
        return Draft(self)

    def count_tokens(self, usage: Usage) -> None:
        """Add one request's tokens."""
        self.tokens_in += usage.prompt_tokens
        self.tokens_out += usage.completion_tokens

    def latency(self) -> dict[str, dict[str, float]]:
        """Return ``{stage: {count, p50, p95, max}}``, in milliseconds, and the stages of the turn with the longest gap.

        That is ``slowest_turn``: its number, its gap, the last recognition before it, and what its reply took, each
        stage in all.
        """
        told = {stage: _summary(sorted(samples)) for stage, samples in sorted(self._samples_ms.items())}
        if self._slowest:
            told["slowest_turn"] = {name: round(value, 1) for name, value in self._slowest.items()}
        return told


class Draft:
    """Stages of a reply in the making: they count from its commit on, and never when there is none.

    Tokens count at once: they were spent. ``parts_ms`` is what each stage took in all, in milliseconds.
    """

    def __init__(self, stages: Stages) -> None:
        self.now = stages.now
        self.count_tokens = stages.count_tokens
        self._stages = stages
        self._held: list[tuple[str, float]] | None = []
        self.parts_ms: dict[str, float] = defaultdict(float)

    def since(self, stage: str, begun: float) -> None:
        """``stage`` began at ``begun`` (seconds of the same clock) and ends now."""
        seconds = self.now() - begun
        self.parts_ms[stage] += seconds * 1000
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
