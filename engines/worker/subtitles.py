"""Segments as SubRip (``srt``) and WebVTT (``vtt``) files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Cue(Protocol):
    """A stretch of text with its start and end in seconds."""

    @property
    def start(self) -> float:
        """Seconds from the beginning of the audio."""
        ...

    @property
    def end(self) -> float:
        """Seconds from the beginning of the audio."""
        ...

    @property
    def text(self) -> str:
        """What is said."""
        ...


def srt(cues: Iterable[Cue]) -> str:
    """Return the cues as a SubRip file: numbered from 1, times ``HH:MM:SS,mmm``."""
    blocks = (f"{n}\n{_span(cue, ',')}\n{cue.text.strip()}\n" for n, cue in enumerate(cues, start=1))
    return "\n".join(blocks)


def vtt(cues: Iterable[Cue]) -> str:
    """Return the cues as a WebVTT file: times ``HH:MM:SS.mmm``; ``-->`` may not occur in the text of a cue."""
    blocks = (f"{_span(cue, '.')}\n{cue.text.strip().replace('-->', '->')}\n" for cue in cues)
    return "\n".join(("WEBVTT\n", *blocks))


def _span(cue: Cue, mark: str) -> str:
    return f"{_clock(cue.start, mark)} --> {_clock(cue.end, mark)}"


def _clock(seconds: float, mark: str) -> str:
    minutes, ms = divmod(round(seconds * 1000), 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{ms // 1000:02d}{mark}{ms % 1000:03d}"
