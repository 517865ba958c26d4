"""One turn of the examiner, kept to what was heard of it: samples played decide, not text produced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal


@dataclass(slots=True, eq=False)
class Spoken:
    """An examiner's turn: its sentences with their length in samples, and how many samples were played."""

    turn: int
    sentences: list[tuple[str, int]] = field(default_factory=list)
    played: int = 0
    captioned: int = 0
    speaker: Literal["examiner"] = field(default="examiner", init=False)

    def voice(self, text: str, samples: int) -> None:
        """Add the turn's next sentence. One without sound was not said, and is left out."""
        if samples > 0:
            self.sentences.append((one_line(text), samples))

    def play(self, samples: int, *, complete: bool) -> None:
        """Note that ``samples`` samples, or all of them, have been heard. An older, smaller count changes nothing."""
        self.played = max(self.played, samples, self.voiced if complete else 0)

    @property
    def voiced(self) -> int:
        """Samples of all sentences so far."""
        return sum(samples for _, samples in self.sentences)

    @property
    def text(self) -> str:
        """What was heard."""
        return " ".join(filter(None, self._heard()))

    def newly_heard(self) -> list[str]:
        """Return the sentences that were heard to their end since the last call."""
        whole, end = 0, 0
        for _, samples in self.sentences:
            end += samples
            whole += end <= self.played
        news = [text for text, _ in self.sentences[self.captioned : whole]]
        self.captioned = whole
        return news

    def _heard(self) -> Iterator[str]:
        left = self.played
        for text, samples in self.sentences:
            yield text if left >= samples else _cut(text, left / samples)
            left = max(0, left - samples)


def tail(text: str, size: int) -> str:
    """Return ``text``, or its last whole words within ``size`` characters."""
    return text if len(text) <= size else text[-size:].partition(" ")[2]


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space made one space."""
    return " ".join(text.split())


def _cut(text: str, share: float) -> str:
    """Return the whole words in the first ``share`` (0 to 1) of ``text``."""
    length = int(len(text) * share)
    between_words = text[length : length + 1] in ("", " ")
    return text[:length] if between_words else text[:length].rpartition(" ")[0]
