"""When the candidate speaks, pauses, and is done: decided by counting samples, never by a clock.

The endpoint is told one probability of speech for each window of 512 samples, and answers with events. Their positions
are sample offsets since the stream began, so that whoever keeps the audio can cut segments out of it.

A window is *voiced* from ``enter`` on, and stays so down to ``stay``. A *stretch* is speech without a pause of
``pause_ms``: it begins when ``onset_ms`` of voice lie within ``onset_span_ms``, so that clicks and breath begin none,
and break no silence. A *segment* is what recognition is given at once: one stretch or more, with a pre-roll and a
tail. A *turn* is every segment until ``turn_silence_ms`` of silence.

=============== ============================================ ===============================================
state           what happens                                 events
=============== ============================================ ===============================================
silence         an onset                                     Started; opens a segment if none is
in a stretch    ``sustained_ms`` of voice, once              Sustained
in a stretch    ``pause_ms`` of silence                      Paused
segment open    ``segment_silence_ms`` of silence            SegmentEnded
segment open    ``segment_max_ms`` and a dip, or hard max    SegmentEnded; the rest stays open
turn open       ``turn_silence_ms`` of silence               TurnEnded
any             ``flush()``                                  Paused, SegmentEnded (of what is open)
manual          ``start()``                                  Started, Sustained; opens a segment
manual          ``end()``                                    Paused, SegmentEnded, TurnEnded
=============== ============================================ ===============================================
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from server.speech.segment import WINDOW_SAMPLES, Segment, Segmenter, Window

RATE_HZ = 16_000
"""Rate of the stream: Silero's and Whisper's own."""

PAUSE_COUNTED_MS = 250
"""The shortest silence that counts as a pause in a segment's figures (de Jong and Bosker, 2013)."""


@dataclass(frozen=True, slots=True)
class EndpointRules:
    """Thresholds (probabilities) and times of the endpoint. Times are rounded up to windows of 32 ms.

    ``turn_silence_ms`` is ``None`` where silence ends no turn. With ``manual``, ``start()`` and ``end()`` decide, and
    probabilities only say where a long segment is cut. Raises :class:`ValueError` for rules that contradict each other.
    """

    enter: float = 0.5
    """Silero's own threshold."""
    stay: float = 0.35
    """Silero's own: ``enter`` less 0.15."""
    onset_ms: int = 96
    onset_span_ms: int = 160
    sustained_ms: int = 250
    pause_ms: int = 200
    pre_roll_ms: int = 300
    tail_ms: int = 200
    segment_silence_ms: int = 600
    segment_max_ms: int = 15_000
    segment_hard_max_ms: int = 28_000
    """Whisper takes 30 s at once."""
    turn_silence_ms: int | None = 2_000
    manual: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.stay <= self.enter <= 1:
            raise ValueError(f"expected 0 < stay <= enter <= 1, got stay={self.stay} enter={self.enter}")
        _expect_order("0 < onset <= onset_span", 1, self.onset_ms, self.onset_span_ms)
        _expect_order("0 < pause <= segment_silence", 1, self.pause_ms, self.segment_silence_ms)
        if self.turn_silence_ms is not None:
            _expect_order("segment_silence <= turn_silence", self.segment_silence_ms, self.turn_silence_ms)
        _expect_order("1000 <= segment_max <= segment_hard_max", 1000, self.segment_max_ms, self.segment_hard_max_ms)


@dataclass(frozen=True, slots=True)
class Started:
    """Speech began, or went on after a pause; ``at`` is where its first voice is."""

    at: int


@dataclass(frozen=True, slots=True)
class Sustained:
    """The stretch has lasted long enough to be meant; ``at`` is where that was known."""

    at: int


@dataclass(frozen=True, slots=True)
class Paused:
    """The stretch is over; ``at`` is where its voice ended. Every ``Started`` is followed by one."""

    at: int


@dataclass(frozen=True, slots=True)
class SegmentEnded:
    """The samples from ``start`` to ``end`` are ready for recognition, pre-roll and tail among them.

    ``speech_samples`` of them are voiced; ``pauses`` are the silences of 250 ms or more between its words, in samples.
    Segments come in order and never overlap.
    """

    start: int
    end: int
    speech_samples: int
    pauses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn of the segments since the last such event is over; ``at`` is where that was known."""

    at: int


Event = Started | Sustained | Paused | SegmentEnded | TurnEnded


class Endpoint:
    """The endpoint of one stream."""

    def __init__(self, rules: EndpointRules) -> None:
        self._rules = rules
        self._segmenter = Segmenter(
            pre_roll=_windows(rules.pre_roll_ms),
            onset=_windows(rules.onset_span_ms),
            longest=_windows(rules.segment_max_ms),
            hard_longest=_windows(rules.segment_hard_max_ms),
        )
        self._span: deque[Window] = deque(maxlen=_windows(rules.onset_span_ms))
        self._voiced = False
        self._in_stretch = False
        self._sustained = False
        self._voice = 0  # voiced windows of the stretch
        self._silence = 0  # windows since the last voice of a stretch
        self._turn_open = False
        self._held = False

    @property
    def open_start(self) -> int:
        """Offset of the earliest sample that a segment still to come may hold: what is before can be forgotten."""
        return self._segmenter.open_start

    @property
    def segment_open(self) -> bool:
        """Whether a segment is open: from ``open_start`` on there is speech that no ``SegmentEnded`` has told of."""
        return self._segmenter.is_open

    def push(self, probability: float) -> list[Event]:
        """Take the probability of speech in the next window; return what it decides, in order."""
        self._voiced = probability >= (self._rules.stay if self._voiced else self._rules.enter)
        window = Window(probability, self._voiced)
        self._segmenter.push(window)
        if self._rules.manual:
            return self._resume_if_held() + self._told(self._segmenter.cut_if_long())
        self._span.append(window)
        events = self._follow() if self._in_stretch else self._listen()
        return events + self._told(self._segmenter.cut_if_long()) + self._heed_silence()

    def start(self) -> list[Event]:
        """Push-to-talk: the turn begins; nothing when it has. Raises :class:`RuntimeError` unless ``manual``."""
        self._expect_manual()
        self._held = True
        return self._resume_if_held()

    def end(self) -> list[Event]:
        """Push-to-talk: the turn is over; nothing if none is. Raises :class:`RuntimeError` unless ``manual``."""
        self._expect_manual()
        self._held = False
        return self.flush() + self._end_turn()

    def flush(self) -> list[Event]:
        """Close what is open, here and now, and begin afresh. The turn is not over for that: silence or ``end()`` is.

        No later segment reaches back before this position.
        """
        events = self._pause() if self._in_stretch else []
        events += self._told(self._segmenter.close())
        self._segmenter.forget()
        self._span.clear()
        self._voiced = False
        return events

    def _listen(self) -> list[Event]:
        self._silence += 1
        sure = [at for at, window in enumerate(self._span) if window.probability >= self._rules.enter]
        if len(sure) < _windows(self._rules.onset_ms):
            return []
        return self._begin(back=len(self._span) - sure[0], voice=len(sure))

    def _begin(self, *, back: int, voice: int) -> list[Event]:
        at = self._segmenter.position - back * WINDOW_SAMPLES
        self._segmenter.open(at)
        self._in_stretch, self._sustained, self._voice, self._silence = True, False, voice, 0
        return [Started(at), *self._sustain()]

    def _follow(self) -> list[Event]:
        if self._voiced:
            self._voice, self._silence = self._voice + 1, 0
            return self._sustain()
        self._silence += 1
        return self._pause() if self._silence >= _windows(self._rules.pause_ms) else []

    def _sustain(self) -> list[Event]:
        meant = self._rules.manual or self._voice >= _windows(self._rules.sustained_ms)
        if self._sustained or not meant:
            return []
        self._sustained = True
        return [Sustained(self._segmenter.position)]

    def _pause(self) -> list[Event]:
        self._in_stretch = False
        self._span.clear()
        return [Paused(self._segmenter.position - self._silence * WINDOW_SAMPLES)]

    def _heed_silence(self) -> list[Event]:
        events: list[Event] = []
        if self._silence >= _windows(self._rules.segment_silence_ms):
            spare = self._silence - _windows(self._rules.tail_ms)  # an onset may have begun in it: the next one's
            events += self._told(self._segmenter.close(max(0, spare)))
        if self._rules.turn_silence_ms is not None and self._silence >= _windows(self._rules.turn_silence_ms):
            events += self._end_turn()
        return events

    def _resume_if_held(self) -> list[Event]:
        return self._begin(back=0, voice=0) if self._held and not self._in_stretch else []

    def _end_turn(self) -> list[Event]:
        if not self._turn_open:
            return []
        self._turn_open = False
        return [TurnEnded(self._segmenter.position)]

    def _told(self, segment: Segment | None) -> list[Event]:
        """Return the event of a closed segment; none for what a cut left over of silence."""
        if segment is None or not segment.windows or not (segment.speech_samples or self._rules.manual):
            return []
        self._turn_open = True
        pauses = segment.pauses(PAUSE_COUNTED_MS * RATE_HZ // 1000)
        return [SegmentEnded(segment.start, segment.end, segment.speech_samples, pauses)]

    def _expect_manual(self) -> None:
        if not self._rules.manual:
            raise RuntimeError("expected an endpoint with manual rules, this one decides by silence")


def _windows(ms: int) -> int:
    """Return how many windows last at least ``ms``."""
    return -(-ms * RATE_HZ // (1000 * WINDOW_SAMPLES))


def _expect_order(rule: str, *times_ms: int) -> None:
    if list(times_ms) != sorted(times_ms):
        raise ValueError(f"expected {rule} (ms), got {times_ms}")
