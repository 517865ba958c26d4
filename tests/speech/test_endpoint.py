"""The endpoint decides by counting samples when speech starts, pauses and ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.speech.endpoint import (
    Endpoint,
    EndpointRules,
    Event,
    Paused,
    SegmentEnded,
    Started,
    Sustained,
    TurnEnded,
)

W = 512
INTERVIEW = EndpointRules(turn_silence_ms=None)
QUICK = EndpointRules(segment_max_ms=1_000, segment_hard_max_ms=2_000)
PUSH_TO_TALK = EndpointRules(manual=True)


def hear(endpoint: Endpoint, probabilities: Iterable[float]) -> list[Event]:
    return [event for probability in probabilities for event in endpoint.push(probability)]


def of_type(events: list[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def silence(windows: int) -> list[float]:
    return [0.02] * windows


def voice(windows: int) -> list[float]:
    return [0.95] * windows


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"stay": 0.6}, "stay <= enter"),
        ({"enter": 1.5}, "enter <= 1"),
        ({"onset_ms": 200}, "onset <= onset_span"),
        ({"pause_ms": 0}, "0 < pause"),
        ({"pause_ms": 700}, "pause <= segment_silence"),
        ({"turn_silence_ms": 500}, "segment_silence <= turn_silence"),
        ({"segment_max_ms": 30_000}, "segment_max <= segment_hard_max"),
        ({"segment_max_ms": 10}, "1000 <= segment_max"),
    ],
)
def test_rules_that_contradict_each_other_are_refused(wrong: dict[str, float], told: str) -> None:
    """Each impossible pair of thresholds or times is refused when the rules are made, by name."""
    with pytest.raises(ValueError, match=told):
        replace(EndpointRules(), **wrong)


@pytest.mark.parametrize(
    "noise",
    [
        silence(200),
        [0.45] * 200,
        [*voice(2), *silence(20)] * 5,
        [0.95, *silence(3)] * 30,
        [0.55, 0.4, 0.4, 0.4, 0.4, *silence(9)] * 5,
    ],
    ids=["silence", "breath", "clicks", "keyboard", "a breath with a peak"],
)
def test_noise_starts_nothing(noise: list[float]) -> None:
    """Breath below the threshold and clicks under 96 ms give no event at all, not even a turn's end."""
    assert hear(Endpoint(EndpointRules()), [*noise, *silence(100)]) == []


@pytest.mark.parametrize("windows", [7, 10])
def test_a_short_word_yields_one_segment_and_one_turn(windows: int) -> None:
    """« Oui » of 220 to 320 ms is speech: a segment with 300 ms before it and 200 ms after, then the turn's end."""
    events = hear(Endpoint(EndpointRules()), [*silence(30), *voice(windows), *silence(70)])
    start, end = (30 - 10) * W, (30 + windows + 7) * W
    spoken = Started(30 * W), Paused((30 + windows) * W), SegmentEnded(start, end, windows * W)
    assert [event for event in events if not isinstance(event, Sustained)] == [
        *spoken,
        TurnEnded((30 + windows + 63) * W),
    ]


def test_speech_is_known_after_96_ms_and_sustained_after_250() -> None:
    """The start is told with the third voiced window, that it is meant with the eighth; each once."""
    endpoint = Endpoint(EndpointRules())
    told = [endpoint.push(probability) for probability in voice(30)]
    assert told[2] == [Started(0)]
    assert told[7] == [Sustained(8 * W)]
    assert sum(map(len, told)) == 2


def test_a_pause_is_told_once_and_speech_after_it_starts_again() -> None:
    """After 200 ms of silence the stretch is over; going on is a new start, sustained anew, in the same segment."""
    events = hear(Endpoint(INTERVIEW), [*voice(10), *silence(12), *voice(10), *silence(30)])
    assert events == [
        Started(0),
        Sustained(8 * W),
        Paused(10 * W),
        Started(22 * W),
        Sustained(30 * W),
        Paused(32 * W),
        SegmentEnded(0, 39 * W, 20 * W, pauses=(12 * W,)),
    ]


def test_a_stop_within_a_word_is_no_pause() -> None:
    """Silence under 200 ms neither pauses nor starts anything."""
    events = hear(Endpoint(INTERVIEW), [*voice(10), *silence(5), *voice(10)])
    assert events == [Started(0), Sustained(8 * W)]


def test_quiet_voice_keeps_a_stretch_going() -> None:
    """Once in speech a lower probability is enough to stay in it."""
    assert not of_type(hear(Endpoint(INTERVIEW), [*voice(5), *[0.4] * 40]), Paused)


def test_a_click_in_a_pause_does_not_put_off_the_turns_end() -> None:
    """Silence is counted from the last speech; what is too short to be speech does not break it."""
    events = hear(Endpoint(EndpointRules()), [*voice(10), *silence(40), *voice(2), *silence(40)])
    assert of_type(events, TurnEnded) == [TurnEnded((10 + 63) * W)]


def test_a_pause_for_thought_ends_no_turn() -> None:
    """1.9 s of silence close the segment, not the turn; the turn ends once, after its last segment."""
    events = hear(Endpoint(EndpointRules()), [*voice(20), *silence(60), *voice(20), *silence(100)])
    assert [type(event) for event in events if isinstance(event, SegmentEnded | TurnEnded)] == [
        SegmentEnded,
        SegmentEnded,
        TurnEnded,
    ]


def test_an_interviews_turn_does_not_end_by_silence() -> None:
    """Without a turn silence the segment closes and nothing else comes, however long the silence."""
    assert not of_type(hear(Endpoint(INTERVIEW), [*voice(20), *silence(2_000)]), TurnEnded)


def test_a_long_segment_is_cut_in_its_best_dip() -> None:
    """At 15 s the part before the middle of the longest dip of the second half closes; no sample is lost or doubled."""
    speech = [*voice(300), *silence(3), *voice(50), *silence(5), *voice(200)]
    first, last = of_type(hear(Endpoint(INTERVIEW), [*speech, *silence(30)]), SegmentEnded)
    assert (first.start, first.end) == (0, (353 + 2) * W)
    assert (last.start, last.end) == (first.end, (558 + 7) * W)
    assert first.speech_samples + last.speech_samples == 550 * W


def test_speech_without_a_dip_is_cut_at_its_faintest_before_28_s() -> None:
    """No segment is longer than 28 s, what recognition can take; without a dip the faintest window is the cut."""
    speech = voice(1_000)
    speech[600] = 0.6
    endpoint = Endpoint(INTERVIEW)
    (cut,) = of_type(hear(endpoint, speech), SegmentEnded)
    assert (cut.start, cut.end) == (0, 600 * W)
    (rest,) = of_type(endpoint.flush(), SegmentEnded)
    assert (rest.start, rest.end) == (600 * W, 1_000 * W)


def test_what_a_cut_leaves_of_silence_is_no_segment() -> None:
    """A dip that is the end of speech leaves an open rest without voice: it is dropped, not recognised."""
    events = hear(Endpoint(EndpointRules()), [*voice(480), *silence(100)])
    assert len(of_type(events, SegmentEnded)) == 1
    assert len(of_type(events, TurnEnded)) == 1


def test_flush_closes_in_mid_word() -> None:
    """The open segment closes where the stream is; the stretch is paused, and the turn stays open."""
    endpoint = Endpoint(EndpointRules())
    hear(endpoint, voice(10))
    assert endpoint.segment_open
    assert endpoint.flush() == [Paused(10 * W), SegmentEnded(0, 10 * W, 10 * W)]
    assert not endpoint.segment_open
    assert endpoint.flush() == []


def test_no_segment_reaches_back_over_a_flush() -> None:
    """What comes after a flush may be separated from it by audio that was dropped: the pre-roll stops there."""
    endpoint = Endpoint(EndpointRules())
    hear(endpoint, [*voice(10), *silence(4)])
    endpoint.flush()
    hear(endpoint, [*silence(2), *voice(10)])
    assert endpoint.open_start == 14 * W


def test_audio_before_the_earliest_possible_segment_can_be_forgotten() -> None:
    """In silence no more is kept than a pre-roll and an onset's span; in a segment, all of it."""
    endpoint = Endpoint(EndpointRules())
    hear(endpoint, silence(100))
    assert endpoint.open_start == (100 - 10 - 5) * W
    hear(endpoint, voice(50))
    assert endpoint.open_start == (100 - 10) * W


def test_push_to_talk_is_refused_where_silence_decides() -> None:
    """start() and end() are for manual rules only."""
    for push in (Endpoint(INTERVIEW).start, Endpoint(INTERVIEW).end):
        with pytest.raises(RuntimeError, match="manual"):
            push()


def test_push_to_talk_takes_what_the_detector_does_not_hear() -> None:
    """Between start and end everything is the candidate's, voice or not; before and after, nothing is."""
    endpoint = Endpoint(PUSH_TO_TALK)
    assert hear(endpoint, voice(100)) == []
    assert endpoint.start() == [Started(100 * W), Sustained(100 * W)]
    assert endpoint.start() == []
    assert hear(endpoint, silence(100)) == []
    assert endpoint.end() == [Paused(200 * W), SegmentEnded(90 * W, 200 * W, 10 * W), TurnEnded(200 * W)]
    assert endpoint.end() == []
    assert hear(endpoint, voice(100)) == []


def test_push_to_talk_goes_on_after_a_flush() -> None:
    """A key that is still held after an interruption still speaks; its release ends the turn once."""
    endpoint = Endpoint(PUSH_TO_TALK)
    endpoint.start()
    hear(endpoint, voice(20))
    assert of_type(endpoint.flush(), SegmentEnded) == [SegmentEnded(0, 20 * W, 20 * W)]
    assert of_type(hear(endpoint, voice(20)), Started) == [Started(21 * W)]
    assert of_type(endpoint.end(), SegmentEnded | TurnEnded) == [
        SegmentEnded(20 * W, 40 * W, 20 * W),
        TurnEnded(40 * W),
    ]


def test_a_key_that_is_only_touched_ends_no_turn() -> None:
    """Pressed and released before any audio: there is nothing to answer."""
    endpoint = Endpoint(PUSH_TO_TALK)
    assert endpoint.start() + endpoint.end() == [Started(0), Sustained(0), Paused(0)]


def test_a_long_push_is_cut() -> None:
    """Recognition takes no more than it can, whoever decides the turn."""
    endpoint = Endpoint(PUSH_TO_TALK)
    events = [*endpoint.start(), *hear(endpoint, voice(2_000)), *endpoint.end()]
    segments = of_type(events, SegmentEnded)
    assert max(segment.end - segment.start for segment in segments) <= 28 * 16_000
    assert [segment.start for segment in segments][1:] == [segment.end for segment in segments][:-1]
    assert len(of_type(events, TurnEnded)) == 1


PROBABILITIES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.36, 0.45, 0.5, 0.7, 1.0]), st.integers(1, 80)), max_size=40
).map(lambda runs: [probability for probability, length in runs for _ in range(length)])


@settings(max_examples=200)
@given(PROBABILITIES)
def test_any_stream_gives_ordered_segments_that_hold_all_its_speech(probabilities: list[float]) -> None:
    """Segments are in order, never overlap, never outgrow the limit, and hold every stretch with all its voice."""
    endpoint = Endpoint(QUICK)
    events = [*hear(endpoint, probabilities), *endpoint.flush()]
    segments = of_type(events, SegmentEnded)
    edges = [0, *(edge for segment in segments for edge in (segment.start, segment.end)), len(probabilities) * W]
    assert edges == sorted(edges)
    assert all(0 < segment.end - segment.start <= 2_016 * 16 for segment in segments)
    assert all(0 < segment.speech_samples <= segment.end - segment.start for segment in segments)
    starts, pauses = of_type(events, Started), of_type(events, Paused)
    assert len(starts) == len(pauses)
    for begun, over in zip(starts, pauses, strict=True):
        for at in range(begun.at, over.at, W):
            voiced = probabilities[at // W] >= 0.5
            assert not voiced or any(segment.start <= at < segment.end for segment in segments)


@given(st.integers(15, 19), st.integers(3, 30))
def test_a_word_that_begins_as_the_segment_closes_is_whole_in_the_next(gap: int, word: int) -> None:
    """A segment's end never takes the first window of an onset that is not decided yet."""
    events = hear(Endpoint(INTERVIEW), [*voice(20), *silence(gap), *voice(word), *silence(30)])
    begun = of_type(events, Started)[-1].at
    assert begun == (20 + gap) * W
    last = of_type(events, SegmentEnded)[-1]
    assert last.start <= begun < (20 + gap + word) * W <= last.end


@settings(max_examples=200)
@given(PROBABILITIES)
def test_any_stream_ends_each_turn_once_and_after_a_segment(probabilities: list[float]) -> None:
    """Between two ends of turn lies a segment; after enough silence no turn is left open."""
    events = hear(Endpoint(QUICK), [*probabilities, *silence(80)])
    decisions = [type(event) for event in events if isinstance(event, SegmentEnded | TurnEnded)]
    assert [kind for kind in decisions[:1] if kind is TurnEnded] == []
    assert all(pair != (TurnEnded, TurnEnded) for pair in pairwise(decisions))
    assert not decisions or decisions[-1] is TurnEnded


@given(PROBABILITIES)
def test_any_stream_alternates_starts_and_pauses(probabilities: list[float]) -> None:
    """Each start is followed by one pause, with at most one sustained between them."""
    events = [*hear(endpoint := Endpoint(EndpointRules()), probabilities), *endpoint.flush()]
    marks = "".join({Started: "s", Sustained: "m", Paused: "p"}.get(type(event), "") for event in events)
    assert marks.replace("sp", "").replace("smp", "") == ""
