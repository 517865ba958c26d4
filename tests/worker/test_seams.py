"""A listener does not find where a text was cut: real speech, block by block as it is sent."""

from __future__ import annotations

import base64
import json
from itertools import pairwise

import httpx
import numpy as np
import pytest
import soxr
from numpy.typing import NDArray

from engines.audio import wav_of
from engines.protocols import STT_RATE_HZ, TTS_RATE_HZ
from engines.worker.synthesizer import CLAUSE_PAUSE_S, SENTENCE_PAUSE_S
from server.bench.figures import words_wrong

GAP_S = 0.25
"""The longest silence at a seam beyond the pause that its mark deserves."""

CLICK = 0.02
"""The largest step from silence into sound, or back: 34 dB below full scale."""

QUIET = 0.01
"""Below this a sample counts as silence: 40 dB below full scale."""

ENGLISH = {
    "The next bus leaves in twenty minutes from the square behind the station.": 0.0,
    "We have one large room that looks over the garden and a smaller one with a view of the street.": 0.0,
    "In the old town, you will find two hotels.": CLAUSE_PAUSE_S,
    "The lift is on the left. The stairs are behind the door.": SENTENCE_PAUSE_S,
}
FRENCH = [
    ("Le prochain bus part dans vingt minutes de la place qui est derrière la gare.", "ff_siwis", 0.0),
    ("Nous avons une chambre qui donne sur le jardin et une autre avec vue sur la rue.", "ff_siwis", 0.0),
]

Samples = NDArray[np.float32]


def blocks_of(api: httpx.Client, text: str, voice: str) -> list[Samples]:
    """The blocks in which the speech of ``text`` is sent, one for each piece."""
    asked = {"input": text, "voice": voice, "response_format": "pcm", "stream_format": "sse"}
    answer = api.post("/audio/speech", json=asked).raise_for_status()
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    parts = [base64.b64decode(event["audio"]) for event in events if event["type"] == "speech.audio.delta"]
    return [np.frombuffer(part, "<i2").astype(np.float32) / 32_768 for part in parts]


def silence_s(samples: Samples) -> float:
    """How long ``samples`` begin with silence."""
    loud = np.flatnonzero(np.abs(samples) > QUIET)
    return float(loud[0] if loud.size else samples.size) / TTS_RATE_HZ


@pytest.mark.parametrize(
    ("text", "voice", "pause_s"),
    [(text, "af_heart", pause_s) for text, pause_s in ENGLISH.items()] + FRENCH,
)
def test_a_seam_is_a_short_pause_without_a_click(api: httpx.Client, text: str, voice: str, pause_s: float) -> None:
    """The text comes in several blocks; between them is silence, no longer than the mark deserves and a little."""
    blocks = blocks_of(api, text, voice)
    assert len(blocks) >= 2
    for before, after in pairwise(blocks):
        assert silence_s(before[::-1]) + silence_s(after) <= pause_s + GAP_S
        assert abs(before[-1]) <= CLICK
        assert abs(after[after != 0][0]) <= CLICK


@pytest.mark.parametrize("text", ENGLISH)
def test_the_words_are_those_of_the_text(api: httpx.Client, text: str) -> None:
    """Heard back, nothing is lost or made up at a seam."""
    spoken = soxr.resample(np.concatenate(blocks_of(api, text, "af_heart")), TTS_RATE_HZ, STT_RATE_HZ)
    files = {"file": ("spoken.wav", wav_of((spoken * 32_767).astype(np.int16)), "audio/wav")}
    heard = api.post("/audio/transcriptions", data={"language": "en"}, files=files).raise_for_status().json()["text"]
    wrong, words = words_wrong(text.replace("twenty", "20"), heard)
    assert wrong <= words / 10
