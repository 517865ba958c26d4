"""The exam on a terminal, as it happens: one line for what one would want to know, none for each piece of audio."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from server.client.events import (
    EXAMINER_RATE_HZ,
    CandidateSilent,
    CandidateSpeaks,
    Caption,
    Closed,
    EndSent,
    ErrorReceived,
    ExaminerAudio,
    Interrupted,
    InterruptionEnd,
    InterruptionStart,
    ReportReceived,
    TurnComplete,
    Unreadable,
    Warned,
)
from server.client.session import CANDIDATE_RATE_HZ, TimedEvent

_SPEAKERS = {"examiner": ("Examiner ", "bold cyan"), "candidate": ("Candidate", "bold green")}


def printable(text: str) -> str:
    """Return ``text`` without the control characters by which a server could rewrite the terminal."""
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)


def timestamp(at_s: float) -> str:
    """Return a time since the exam's start as ``mm:ss.mmm``."""
    minutes, milliseconds = divmod(round(at_s * 1000), 60_000)
    return f"{minutes:02d}:{milliseconds // 1000:02d}.{milliseconds % 1000:03d}"


class LiveView:
    """Prints an exam's events to ``console`` as they come."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._samples = 0

    def note(self, timed: TimedEvent) -> None:
        """Print the event, if there is anything to say about it."""
        if isinstance(timed.event, ExaminerAudio):
            self._note_audio(timed.at_s, timed.event)
        elif isinstance(timed.event, Caption):
            self._note_caption(timed.at_s, timed.event)
        else:
            self._line(timed.at_s, Text(printable(self._words(timed)), style="dim"))

    def _note_audio(self, at_s: float, audio: ExaminerAudio) -> None:
        if not self._samples:
            self._line(at_s, Text("examiner begins to speak", style="cyan"))
        self._samples += audio.pcm.size

    def _note_caption(self, at_s: float, caption: Caption) -> None:
        name, style = _SPEAKERS[caption.role]
        self._line(at_s, Text.assemble((name, style), "  ", printable(caption.text)))

    def _words(self, timed: TimedEvent) -> str:
        match timed.event:
            case TurnComplete():
                return f"examiner's turn is complete, {self._take_examiner_s():.1f} s of audio"
            case Interrupted():
                return f"candidate cut in; {self._take_examiner_s():.1f} s of audio had come"
            case InterruptionStart():
                return "interruption begins: candidate falls silent"
            case InterruptionEnd():
                return "interruption ends: candidate goes on"
            case CandidateSpeaks(turn, samples):
                return f"candidate begins turn {turn}, {samples / CANDIDATE_RATE_HZ:.1f} s"
            case CandidateSilent(turn):
                return f"candidate's turn {turn} is over"
            case EndSent():
                return "end asked for; waiting for the report"
            case other:
                return _rare_words(other)

    def _take_examiner_s(self) -> float:
        seconds, self._samples = self._samples / EXAMINER_RATE_HZ, 0
        return seconds

    def _line(self, at_s: float, text: Text) -> None:
        self._console.print(Text.assemble((f"{timestamp(at_s)}  ", "dim"), text), soft_wrap=True)


def _rare_words(event: object) -> str:
    match event:
        case Warned(message):
            return f"warning: {message}"
        case ErrorReceived(code, message):
            return f"error {code}: {message}"
        case ReportReceived():
            return "report received"
        case Unreadable(why):
            return f"unreadable: {why}"
        case Closed(code, reason):
            return f"closed, {code} {reason}".rstrip()
        case _:
            return type(event).__name__
