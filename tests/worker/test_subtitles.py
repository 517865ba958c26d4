"""Segments as subtitle files."""

from dataclasses import dataclass

from engines.worker.subtitles import srt, vtt


@dataclass(frozen=True)
class Cue:
    start: float
    end: float
    text: str


CUES = (Cue(0.0, 1.9996, " Bonjour."), Cue(3_725.5, 3_726.25, " a --> b"))


def test_srt_numbers_its_cues_and_rounds_to_milliseconds() -> None:
    """Hours, minutes, seconds, a comma; a rounded second carries over."""
    assert srt(CUES) == "1\n00:00:00,000 --> 00:00:02,000\nBonjour.\n\n2\n01:02:05,500 --> 01:02:06,250\na --> b\n"


def test_vtt_keeps_its_arrow_to_itself() -> None:
    """An arrow in the text would end the cue."""
    assert vtt(CUES).endswith("\n01:02:05.500 --> 01:02:06.250\na -> b\n")


def test_no_segments_are_an_empty_file() -> None:
    """Silence has no subtitles; WebVTT keeps its first line."""
    assert (srt(()), vtt(())) == ("", "WEBVTT\n")
