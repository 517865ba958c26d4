"""Where nobody speaks no text comes, where somebody does it is not lost: on real models, in both languages.

Voice detection and recognition are each tried alone too, so that one gate's strength does not hide another's weakness.
docs/decisions/0006-inventions.md holds what was measured over more sounds, seeds and lengths.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile
import soxr

from engines.audio import wav_of
from engines.invention import Segment, believable
from engines.worker.transcriber import FALLBACK_TEMPERATURE, MAX_NEW_TOKENS, token_limit

RATE_HZ = 16_000
SEED = 11
"""Of every sound here; the gates were set on seeds 1 to 3."""

PIECES_S = (1, 29, 30)
"""Segments of a session have 1 to 30 seconds."""

Listening = Callable[[str], Any]

EVERY_SOUND = (
    "typing", "fan", "wind", "band", "ballad", "strings", "breath", "room", "coughs", "door", "silence", "ringing",
)  # fmt: skip


@pytest.fixture(scope="module")
def minute(sounds: ModuleType) -> Callable[[str], np.ndarray]:
    """A minute of a sound, by its name."""
    made: dict[str, np.ndarray] = {}

    def make(name: str) -> np.ndarray:
        if name not in made:
            made[name] = sounds.SOUNDS[name](np.random.default_rng(SEED), 60.0)
        return made[name]

    return make


@pytest.mark.parametrize(
    ("language", "sound"), [*(("fr", sound) for sound in EVERY_SOUND), *(("en", sound) for sound in EVERY_SOUND[::3])]
)
def test_a_session_hears_nobody_where_nobody_speaks(
    language: str, sound: str, listening: Listening, minute: Callable[[str], np.ndarray]
) -> None:
    """A minute of any sound, through the ear of a session: no text at all."""
    heard = listening(language).in_a_session(minute(sound))
    assert [utterance.text for utterance in heard if utterance.text] == []
    assert not any(utterance.lost for utterance in heard)


@pytest.mark.parametrize("language", ["en", pytest.param("fr", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("sound", ["silence", "room", "typing", "ballad", "strings", "breath"])
def test_recognition_alone_hears_nobody_where_nobody_speaks(
    sound: str, language: str, listening: Listening, minute: Callable[[str], np.ndarray]
) -> None:
    """The same minute in pieces, with no voice detection before recognition: no text either."""
    pieces = np.split(minute(sound), np.cumsum(PIECES_S)[:-1] * RATE_HZ)
    assert [text for text in map(listening(language).alone, pieces) if text] == []


def test_the_list_is_needed_and_catches(listening: Listening) -> None:
    """Of long silence Whisper is so sure that its own rule lets "you" pass: the list of everyday words does not."""
    english, nothing = listening("en"), np.zeros(20 * RATE_HZ, np.float32)
    (invented,) = transcribed(english, nothing)["segments"]
    assert invented["text"].strip() == "you"
    assert invented["avg_logprob"] > -1
    assert english.alone(nothing) == ""


@pytest.fixture(scope="module")
def heard_of(listening: Listening, sounds: ModuleType, utterances: ModuleType) -> Callable[[str, str, int], str]:
    """What a session hears of an utterance; each second one lies in the noise of a room, 20 dB below it."""
    known: dict[tuple[str, str], str] = {}

    def hear(language: str, text: str, number: int) -> str:
        if (language, text) not in known:
            voices = utterances.FRENCH_VOICES if language == "fr" else utterances.ENGLISH_VOICES
            spoken = listening(language).spoken(text, *voices[number % len(voices)])
            said = in_noise(sounds, spoken, number) if number % 2 else between_silence(spoken)
            known[language, text] = " ".join(each.text for each in listening(language).in_a_session(said))
        return known[language, text]

    return hear


def test_no_utterance_is_lost(utterance: tuple[str, str, int], heard_of: Callable[[str, str, int], str]) -> None:
    """However short, what is said gives text: the gates take none of it for invented."""
    assert heard_of(*utterance)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", ["en", pytest.param("fr", marks=pytest.mark.thorough)])
def test_utterances_are_understood(
    language: str, utterances: ModuleType, heard_of: Callable[[str, str, int], str]
) -> None:
    """Nine of ten short utterances are right or near: what Whisper mishears of the others is no affair of the gates."""
    texts = utterances.FRENCH if language == "fr" else utterances.ENGLISH
    near = [is_near(text, heard_of(language, text, number)) for number, text in enumerate(texts)]
    assert sum(near) >= 27


def test_words_of_a_person_are_not_lost(
    by_a_person: tuple[str, float, float], two_cities: Path, listening: Listening
) -> None:
    """Cut out of a reading, a word or a phrase is heard through a session and alone."""
    words, start_s, end_s = by_a_person
    samples, rate_hz = soundfile.read(two_cities, dtype="float32")
    spoken = soxr.resample(samples[round(start_s * rate_hz) : round(end_s * rate_hz)], rate_hz, RATE_HZ)
    (heard,) = listening("en").in_a_session(between_silence(spoken))
    assert is_near(words, heard.text)
    assert is_near(words, listening("en").alone(spoken))


@pytest.mark.parametrize(("seconds", "language"), [(1, "en"), (5, "en"), (5, "fr")])
def test_a_loop_cannot_run_away(seconds: int, language: str, two_cities: Path, listening: Listening) -> None:
    """A decode that would go on for ever ends at its bound, after the one fallback; the gates leave one time of it."""
    samples, rate_hz = soundfile.read(two_cities, start=57_600, stop=72_000, dtype="float32")
    syllable = soxr.resample(samples, rate_hz, RATE_HZ)
    told = transcribed(listening(language), np.resize(syllable, seconds * RATE_HZ), prompt="la la la la " * 20)
    (looping,) = told["segments"]
    assert looping["temperature"] == FALLBACK_TEMPERATURE
    assert token_limit(seconds) <= len(looping["tokens"]) <= token_limit(seconds) + 1
    evidence = (looping[name] for name in ("avg_logprob", "no_speech_prob", "compression_ratio"))
    assert [each.text for each in believable([Segment(looping["text"], seconds, *evidence)])] == ["la"]


def test_the_bound_of_a_decode_has_a_bound() -> None:
    """However long the audio, no window is worth more than half of Whisper's context."""
    assert token_limit(0.0) == 16
    assert token_limit(30.0) == token_limit(3_600.0) == MAX_NEW_TOKENS


def transcribed(listening: Any, audio: np.ndarray, **fields: str) -> dict[str, Any]:
    """Return the worker's own answer, before the gates of the list."""
    form = {"model": "whisper", "response_format": "verbose_json", **fields}
    files = {"file": ("a.wav", wav_of((audio * 32_767).astype(np.int16)), "audio/wav")}
    answer = httpx.post(f"{listening.base_url}/audio/transcriptions", data=form, files=files, timeout=120)
    told: dict[str, Any] = answer.raise_for_status().json()
    return told


def between_silence(spoken: np.ndarray) -> np.ndarray:
    """Return ``spoken`` with silence before and after it."""
    return np.concatenate([np.zeros(RATE_HZ * 3 // 4), spoken, np.zeros(RATE_HZ)]).astype(np.float32)


def in_noise(sounds: ModuleType, spoken: np.ndarray, seed: int) -> np.ndarray:
    """Return ``spoken`` in a room whose noise is 20 dB below it."""
    said = between_silence(spoken)
    level = 10 * np.log10(np.mean(np.square(spoken))) - 20
    return said + sounds.at_level(sounds.room(np.random.default_rng(seed), len(said) / RATE_HZ), level)


def is_near(said: str, heard: str) -> bool:
    """Whether most letters are the same, in order."""
    return SequenceMatcher(None, letters(said), letters(heard)).ratio() >= 0.6


def letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFD", text.casefold()))
