"""French text spoken by Kokoro and heard back by Whisper: what was written is what is understood.

Each line of ``french_heard_back.tsv`` is a text; whether espeak-ng by itself says it ``right`` or ``wrong``; phonemes
that its speech must hold; and words that Whisper must hear, in this order. ``;`` stands between words, ``|`` between
spellings of one. Where Whisper does not know a word, the phonemes alone tell, and the last column holds what it knows
of the sentence.
"""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from engines.local import SpeechWorkerSpec, speech_worker
from engines.models import Lock, Store

SPEEDS = (1.0, 0.85)
"""Who does not catch a sentence hears it again, slower."""

PHONEMES_OF = """
import json, sys, warnings
from kokoro_onnx.tokenizer import Tokenizer
from engines.worker.spoken import speakable, without_flags
def say(text):
    return without_flags(Tokenizer().phonemize(text, "fr-fr"))
json.dump([[say(text), say(speakable(text, "fr-fr"))] for text in json.load(sys.stdin)], sys.stdout)
"""
"""In a process of its own: espeak-ng and phonemizer are GPL."""

WRITTEN_AS = (
    (r"(?<![\w.,])-(?=\d)", "moins "),
    (r"(?<=\d)[\s.](?=\d{3}\b)", ""),
    (r"(?<=\d) ?h ?(?=\d)", " heures "),
    (r"(?<=\d) ?h\b", " heures"),
    (r"€", " euros"),
    (r"\$", " dollars"),
    (r"%", " pour cent"),
    (r"\bkm/h\b", "kilomètres à l'heure"),
    (r"\bkm\b", "kilomètres"),
    (r"\bkg\b", "kilos"),
    (r"°c?", " degrés"),
    (r"\+", " plus "),
    (r"[^\w,]|,(?!\d)|(?<!\d),", " "),
)
"""One form for what Whisper writes now as a sign, now as a word; the other marks go."""


class Text(NamedTuple):
    written: str
    alone: str
    phonemes: str
    heard: str


def _table() -> list[Text]:
    lines = Path(__file__).with_name("french_heard_back.tsv").read_text(encoding="utf-8").splitlines()
    texts = [Text(*line.split("\t")) for line in lines[1:]]
    return [text._replace(written=text.written.replace("\\n", "\n")) for text in texts]


TABLE = _table()


def folded(text: str) -> str:
    text = text.lower().replace("’", "'")
    for pattern, words in WRITTEN_AS:
        text = re.sub(pattern, words, text)
    return f" {' '.join(text.split())} "


def understood(wanted: str, heard: str) -> bool:
    """Every word of ``wanted``, in any of its spellings, in its order."""
    words = (f"(?:{'|'.join(re.escape(folded(one).strip()) for one in word.split('|'))})" for word in wanted.split(";"))
    return re.search(r"\b" + r".*\b".join(words), folded(heard)) is not None


def bare(phonemes: str) -> str:
    """Without stress and spaces, which hang on the rest of the sentence."""
    return re.sub(r"[ˈˌ\s]", "", phonemes)


@pytest.fixture(scope="module")
def phonemes() -> dict[str, tuple[str, str]]:
    """Of each text: espeak-ng's phonemes of what was written, and of what is spoken."""
    texts = [text.written for text in TABLE]
    done = subprocess.run(
        [sys.executable, "-c", PHONEMES_OF], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return {text: (bare(raw), bare(said)) for text, (raw, said) in zip(texts, json.loads(done.stdout), strict=True)}


@pytest.mark.parametrize("text", TABLE, ids=lambda text: text.written)
def test_a_text_has_its_phonemes(text: Text, phonemes: dict[str, tuple[str, str]]) -> None:
    """What is spoken holds the right phonemes; the text as it was written holds them only where espeak-ng is right."""
    raw, said = phonemes[text.written]
    assert text.phonemes in said
    assert ("right" if text.phonemes in raw else "wrong") == text.alone


@contextmanager
def _french_worker(lock: Lock, store: Store) -> Iterator[httpx.Client]:
    profile = lock.profile("fr")
    spec = SpeechWorkerSpec(
        stt_dir=store.path(profile, "stt"),
        tts_onnx=store.path(profile, "tts"),
        voices_bin=store.path(profile, "voices"),
        vad_onnx=store.path(profile, "vad"),
        language="fr",
        voice="ff_siwis",
    )
    with asyncio.Runner() as runner:
        supervised = speech_worker(spec)
        running = supervised.running()
        runner.run(running.__aenter__())
        try:
            runner.run(supervised.ready(90))
            with httpx.Client(base_url=supervised.base_url, timeout=60) as client:
                yield client
        finally:
            runner.run(running.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def french(lock: Lock, french_speech_models: Store) -> Iterator[httpx.Client]:
    with _french_worker(lock, french_speech_models) as client:
        yield client


def hear(client: httpx.Client, text: str, speed: float) -> str:
    asked = {"input": text, "response_format": "wav", "speed": speed}
    spoken = client.post("/audio/speech", json=asked).raise_for_status()
    answer = client.post("/audio/transcriptions", files={"file": spoken.content}).raise_for_status()
    return str(answer.json()["text"])


@pytest.mark.thorough
@pytest.mark.parametrize("text", TABLE, ids=lambda text: text.written)
def test_a_text_is_understood(text: Text, french: httpx.Client) -> None:
    """The words and numbers that carry the meaning are heard."""
    heard = []
    for speed in SPEEDS:
        heard.append(hear(french, text.written, speed))
        if understood(text.heard, heard[-1]):
            return
    pytest.fail(f"expected {text.heard!r}, heard {heard}")
