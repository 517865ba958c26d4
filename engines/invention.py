"""Keeps out of a transcript what Whisper makes up when nobody speaks: noise turned into credits, loops of one phrase.

Judged by Whisper's own evidence first; lists of phrases known to be made up count only where that evidence is weak,
as a candidate may well say one of them. Measured in docs/decisions/0006-inventions.md.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

NO_SPEECH = 0.6
"""Nobody speaks: Whisper's own threshold (``transcribe.py``), beyond which an everyday invention is one."""

SILENCE_NO_SPEECH, SILENCE_LOGPROB = 0.5, -1.0
"""Silence, if both are passed. Whisper's own rule has 0.6 and -1.0, which blowing on a microphone gets through; of
improbable texts that were said, none was beyond 0.2."""

COMPRESSION_RATIO = 2.4
"""Text that compresses better than this repeats itself: Whisper's own threshold."""

WEAK_NO_SPEECH, WEAK_LOGPROB = 0.3, -0.6
"""Evidence is weak beyond either: about half-way to Whisper's own thresholds."""

LOOP_REPEATS, LOOP_WORDS = 4, 12
"""A phrase of up to twelve words said four times in a row is a loop; a single word needs twice as many."""

_KNOWN = re.compile(
    r"sous titr(es?|age|ages) .*"
    r"|.*amara org.*"
    r"|merci (a tous )?(d avoir|pour avoir) (regarde|visionne|suivi|ecoute)( cette video| la video| cet episode)?.*"
    r"|(n oubliez pas de |pensez a )?(vous )?abonne[rz]( vous)?( a (la|ma|notre) chaine)?.*"
    r"|a la prochaine( video)?|je vous retrouve dans une prochaine video.*"
    r"|(thanks|thank you)( so much| very much)? for (watching|listening|your attention).*"
    r"|(please |don t forget to )?(like and )?subscribe( to (my|our|the) channel)?.*"
    r"|(subtitles|captions|transcription|transcribed) by .*"
    r"|(i ll )?see you (guys )?(in the )?next (video|time)"
    r"|je vous invite (a )?vous( .*video)?"
)
"""What ends a video: nobody says it in an exam, so that weak evidence is enough."""

_EVERYDAY = re.compile(r"you|so|okay|bye|(thank you|thanks)( so much| very much)?|merci( beaucoup)?")
"""Short answers that Whisper is also fluent in when nobody speaks: a good log-probability says nothing for them, so
that the no-speech probability decides alone."""

_SOUND = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫♬]+")


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment as Whisper gives it. Evidence that the engine does not give is ``None``."""

    text: str
    seconds: float
    avg_logprob: float | None = None
    no_speech_prob: float | None = None
    compression_ratio: float | None = None


def believable(segments: Sequence[Segment]) -> list[Segment]:
    """Return the segments of which something was said, in order, with what was made up cut out of their texts."""
    kept = ((segment, _cleaned(segment)) for segment in segments if not _is_silence(segment))
    return [
        Segment(text, each.seconds, each.avg_logprob, each.no_speech_prob, each.compression_ratio)
        for each, text in kept
        if text and not _is_known(each, _plain(text))
    ]


def confidence(segments: Sequence[Segment]) -> float:
    """Return the mean probability of the tokens: exp of ``avg_logprob``, weighted by length; 0 without segments.

    Segments without that evidence count as 0.5: neither sure nor doubtful.
    """
    if not segments:
        return 0.0
    lengths = [max(segment.seconds, 0.01) for segment in segments]
    logprobs = [math.log(0.5) if each.avg_logprob is None else each.avg_logprob for each in segments]
    mean = sum(length * logprob for length, logprob in zip(lengths, logprobs, strict=True)) / sum(lengths)
    return min(1.0, math.exp(min(mean, 0.0)))


def unlooped(text: str) -> str:
    """Return ``text`` with each loop of one phrase cut down to its first time."""
    words = text.split()
    plain = [_plain(word) for word in words]
    kept: list[str] = []
    at = 0
    while at < len(words):
        size, repeats = _loop(plain, at)
        kept += words[at : at + size]
        at += size * repeats
    return " ".join(kept)


def _cleaned(segment: Segment) -> str:
    """Return the text without names of sounds and loops; nothing if it still repeats itself, or has no word."""
    text = unlooped(_SOUND.sub(" ", segment.text))
    repeats_itself = segment.compression_ratio is not None and segment.compression_ratio > COMPRESSION_RATIO
    if not _plain(text) or (repeats_itself and _compression_ratio(text) > COMPRESSION_RATIO):
        return ""
    return text


def _is_silence(segment: Segment) -> bool:
    if segment.no_speech_prob is None or segment.avg_logprob is None:
        return False
    return segment.no_speech_prob > SILENCE_NO_SPEECH and segment.avg_logprob < SILENCE_LOGPROB


def _is_known(segment: Segment, words: str) -> bool:
    """Return whether ``words`` are known to be made up on evidence such as the segment's."""
    if _EVERYDAY.fullmatch(words) and (segment.no_speech_prob or 0.0) > NO_SPEECH:
        return True
    return _is_weak(segment) and _KNOWN.fullmatch(words) is not None


def _is_weak(segment: Segment) -> bool:
    """Return whether the segment's evidence is weak; none at all is weak."""
    if segment.no_speech_prob is None or segment.avg_logprob is None:
        return True
    return segment.no_speech_prob > WEAK_NO_SPEECH or segment.avg_logprob < WEAK_LOGPROB


def _loop(words: Sequence[str], at: int) -> tuple[int, int]:
    """Return the size of the phrase that loops from ``at`` on, and how often it is said; ``(1, 1)`` if none does."""
    for size in range(1, LOOP_WORDS + 1):
        phrase, repeats = words[at : at + size], 1
        while words[at + repeats * size : at + (repeats + 1) * size] == phrase:
            repeats += 1
        if repeats >= LOOP_REPEATS * (2 if size == 1 else 1):
            return size, repeats
    return 1, 1


def _compression_ratio(text: str) -> float:
    encoded = text.encode()
    return len(encoded) / len(zlib.compress(encoded))


def _plain(text: str) -> str:
    """Return the words of ``text``: lower case, without accents and marks, one space between them."""
    bare = "".join(char for char in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(char))
    return " ".join(re.findall(r"[^\W_]+", bare))
