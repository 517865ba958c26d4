"""Takes a model's thinking out of its answer: ``<think>…</think>``, however its tags are split over fragments."""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


class ReasoningFilter:
    """Lets pass what may be spoken of one answer. White space before its first word is dropped as well."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._begun = False

    def feed(self, fragment: str) -> str:
        """Take the answer's next fragment; return what is known to be speakable by now, which may be nothing."""
        self._held += fragment
        spoken = ""
        while (at := self._held.find(self._awaited)) >= 0:
            spoken += self._pass(at)
            self._held = self._held[len(self._awaited) :]
            self._thinking = not self._thinking
        spoken += self._pass(len(self._held) - _overlap(self._held, self._awaited))
        return self._trimmed(spoken)

    def finish(self) -> str:
        """Return the rest of an answer that is over: what looked like the beginning of a tag and was none."""
        return self._trimmed(self._pass(len(self._held)))

    @property
    def _awaited(self) -> str:
        return CLOSE if self._thinking else OPEN

    def _pass(self, count: int) -> str:
        passed, self._held = self._held[:count], self._held[count:]
        return "" if self._thinking else passed

    def _trimmed(self, spoken: str) -> str:
        spoken = spoken if self._begun else spoken.lstrip()
        self._begun = self._begun or bool(spoken)
        return spoken


def _overlap(text: str, tag: str) -> int:
    """Return the length of the longest end of ``text`` that ``tag`` begins with."""
    return next(size for size in range(min(len(text), len(tag) - 1), -1, -1) if text.endswith(tag[:size]))
