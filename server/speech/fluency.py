"""Figures of fluency from what was heard, and the acoustic part of the score that is drawn from them.

All are measured; none claims to be a human rater's mark. Definitions follow de Jong and Wempe (2009) for rates and de
Jong and Bosker (2013) for the 250 ms that make a silence a pause; which figures the score takes, and that longer runs,
more voice and a quicker articulation mean more fluency, follows Kormos and Dénes (2004). The ramps' ends are our own
choice: from halting speech to the pace of a learner at ease, well below that of native speakers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from server.speech.endpoint import PAUSE_COUNTED_MS, EndpointRules

Language = Literal["fr", "en"]

MARGIN_MS = EndpointRules().pre_roll_ms + EndpointRules().tail_ms
"""Silence that a segment holds around its words, and that is missing from the gap between two segments."""

EXCHANGE_GAP_MS = 3_000
"""A longer gap between two utterances is no pause: the examiner spoke, or the floor was free."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+")
_VOWELS = {
    "fr": re.compile(r"[aeiouyàâäéèêëîïôöùûüœæ]+"),
    "en": re.compile(r"[aeiouy]+"),
}
_MUTE_ENDING = {
    "fr": re.compile(r"(?<=[^\W_aeiouyàâäéèêëîïôöùûü])es?$"),
    "en": re.compile(r"(?<=[^\W_aeiouyl])e$"),
}


@dataclass(frozen=True, slots=True)
class Utterance:
    """One recognised segment. Times in ms on the audio clock; ``pauses_ms`` are the silences inside, where known."""

    text: str
    start_ms: int
    end_ms: int
    speech_ms: int
    confidence: float
    pauses_ms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FluencyFigures:
    """What was measured. All are 0 when nothing was said.

    ``articulation_rate``: syllables per second of voiced time. ``phonation_ratio``: voiced share of the time spent
    speaking, pauses included. ``pauses_per_minute`` and ``mean_pause_ms``: of silences from 250 ms on.
    ``mean_run_words``: words between two of them. ``confidence``: of the recognition, weighted by voiced time.
    """

    words: int
    syllables: int
    speech_ms: int
    articulation_rate: float
    phonation_ratio: float
    pauses_per_minute: float
    mean_pause_ms: float
    mean_run_words: float
    confidence: float


def measure(utterances: Sequence[Utterance], language: Language) -> FluencyFigures:
    """Return the figures of ``utterances``, in order of speech; those without text count for nothing."""
    spoken = [utterance for utterance in utterances if _WORD.search(utterance.text)]
    words = [word for utterance in spoken for word in _WORD.findall(utterance.text.lower())]
    syllables = sum(syllable_count(word, language) for word in words)
    speech_ms = sum(utterance.speech_ms for utterance in spoken)
    between = [_gap_ms(*pair) for pair in pairwise(spoken)]
    exchanges = sum(gap > EXCHANGE_GAP_MS for gap in between)
    gaps = [gap for gap in between if PAUSE_COUNTED_MS <= gap <= EXCHANGE_GAP_MS]
    pauses = gaps + [pause for utterance in spoken for pause in utterance.pauses_ms if pause >= PAUSE_COUNTED_MS]
    total_ms = sum(_length_ms(utterance) for utterance in spoken) + sum(gaps)
    return FluencyFigures(
        words=len(words),
        syllables=syllables,
        speech_ms=speech_ms,
        articulation_rate=_ratio(syllables, speech_ms / 1000),
        phonation_ratio=_ratio(speech_ms, total_ms),
        pauses_per_minute=_ratio(len(pauses), total_ms / 60_000),
        mean_pause_ms=_ratio(sum(pauses), len(pauses)),
        mean_run_words=_ratio(len(words), len(pauses) + exchanges + 1),
        confidence=_ratio(sum(u.confidence * u.speech_ms for u in spoken), speech_ms),
    )


def phonology_score(figures: FluencyFigures, language: Language) -> float:
    """Return the score, 0 to 4 in steps of 0.5: the sum of four marks of 0 to 1, rounded; 0 when nothing was said.

    Each mark rises in a straight line between two values and never falls as its figure grows: articulation rate from 2
    to 4 syllables a second in French (1.8 to 3.6 in English, whose syllables are longer), phonation ratio from 0.4 to
    0.8, mean run from 2 to 8 words, recognition confidence from 0.4 to 0.85 (a stand-in for how clear the speech is).
    """
    if not figures.words:
        return 0.0
    slow, brisk = (2.0, 4.0) if language == "fr" else (1.8, 3.6)
    marks = (
        _ramp(figures.articulation_rate, slow, brisk)
        + _ramp(figures.phonation_ratio, 0.4, 0.8)
        + _ramp(figures.mean_run_words, 2.0, 8.0)
        + _ramp(figures.confidence, 0.4, 0.85)
    )
    return int(marks * 2 + 0.5) / 2


def syllable_count(word: str, language: Language) -> int:
    """Return about how many syllables ``word`` (lower case) has: its groups of vowels, at least one.

    A French final ``-e`` or ``-es`` and an English final ``-e`` (but not ``-le``) after a consonant are mute. Digits
    count one each.
    """
    if word.isdigit():
        return len(word)
    vowels, mute = _VOWELS[language], _MUTE_ENDING[language]
    return max(1, sum(len(vowels.findall(mute.sub("", part))) for part in re.split(r"['’-]", word)))


def _gap_ms(before: Utterance, after: Utterance) -> int:
    """Return the silence between two utterances; 0 when a long segment was cut between them."""
    gap = after.start_ms - before.end_ms
    return gap + MARGIN_MS if gap > 0 else 0


def _length_ms(utterance: Utterance) -> int:
    return max(utterance.speech_ms, utterance.end_ms - utterance.start_ms - MARGIN_MS)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _ramp(figure: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (figure - low) / (high - low)))
