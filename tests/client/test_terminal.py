from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from server.client.events import (
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
from server.client.live_view import LiveView, printable, timestamp
from server.client.report import print_report
from server.client.session import TimedEvent


def shown(*events: TimedEvent) -> list[str]:
    output = io.StringIO()
    view = LiveView(Console(file=output, width=120))
    for event in events:
        view.note(event)
    return output.getvalue().splitlines()


def report_text(report: dict) -> str:
    output = io.StringIO()
    print_report(report, Console(file=output, width=100))
    return output.getvalue()


@pytest.mark.parametrize(
    ("at_s", "text"), [(0, "00:00.000"), (1.2345, "00:01.234"), (59.9999, "01:00.000"), (905.5, "15:05.500")]
)
def test_times_are_minutes_seconds_milliseconds(at_s, text):
    """``mm:ss.mmm`` since the handshake."""
    assert timestamp(at_s) == text


def test_the_examiners_audio_is_one_line_a_turn():
    """Ten pieces of audio are no ten lines: when it began, and how much it was."""
    block = ExaminerAudio(np.zeros(2_400, np.int16))
    lines = shown(*(TimedEvent(1 + piece / 10, block) for piece in range(10)), TimedEvent(2.5, TurnComplete()))
    assert lines == ["00:01.000  examiner begins to speak", "00:02.500  examiner's turn is complete, 1.0 s of audio"]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (CandidateSpeaks(1, 24_000), "candidate begins turn 1, 1.5 s"),
        (CandidateSilent(1), "candidate's turn 1 is over"),
        (InterruptionStart(), "interruption begins: candidate falls silent"),
        (InterruptionEnd(), "interruption ends: candidate goes on"),
        (Interrupted(), "candidate cut in; 0.0 s of audio had come"),
        (Warned("Plus que 30 s"), "warning: Plus que 30 s"),
        (Caption("examiner", "Et [bold]vous[/bold] ?"), "Examiner   Et [bold]vous[/bold] ?"),
        (Caption("candidate", "Oui."), "Candidate  Oui."),
        (EndSent(), "end asked for; waiting for the report"),
        (ReportReceived({}), "report received"),
        (ErrorReceived("EMPTY_TRANSCRIPT", "Rien."), "error EMPTY_TRANSCRIPT: Rien."),
        (Unreadable("a binary frame"), "unreadable: a binary frame"),
        (Closed(1000, ""), "closed, 1000"),
        (Closed(4006, "GEMINI_DISCONNECTED"), "closed, 4006 GEMINI_DISCONNECTED"),
    ],
)
def test_every_other_event_is_one_line_with_its_time(event, line):
    """Markup in a server's text is text."""
    assert shown(TimedEvent(61.5, event)) == [f"01:01.500  {line}"]


@given(st.text())
def test_a_servers_text_cannot_steer_the_terminal(text):
    """No control character of a caption or of a report reaches the terminal."""
    assert all(letter.isprintable() or letter == "\n" for letter in printable(text))
    (line, *more) = shown(TimedEvent(0, Unreadable(text.replace("\n", ""))))
    assert "\x1b" not in line
    assert not more


def test_the_report_is_shown_whole(report):
    """Scores, level, criteria, both lists, corrections and transcript are all there, brackets included."""
    text = report_text(report)
    for part in (
        "Report EO_T1, 01:01.500", "14/20", "NCLC 9", "10.7/16", "3/4 (acoustic)", "Lexique", "varié [juste]",
        "• clair", "• les temps du passé", "j'ai allé → je suis allé  auxiliaire être", "Candidat : bonjour",
    ):  # fmt: skip
        assert part in text


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "tache",
                "score",
                "phonologie",
                "nclc",
                "criteres",
                "pointsForts",
                "corrections",
                "transcript",
                "durationMs",
            ]
        ),
        st.recursive(
            st.none() | st.integers() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner) | st.dictionaries(st.sampled_from(["name", "score", "said", "method"]), inner)
            ),
        ),
    )
)
def test_a_report_that_lacks_parts_is_shown_as_far_as_it_goes(report):
    """The client does not judge a report: whatever its shape, printing it does not fail."""
    assert "Score" in report_text(report)
