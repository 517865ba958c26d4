"""The engines, ours and the stock libraries', on the same input."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engines.models import Lock, Store
from engines.proofs import SENTENCE, recording
from engines.silero import SileroVoiceActivity
from server.bench.engine_calls import Answered, Round, guard_us, vad_us
from server.bench.engine_figures import llm_figures, stt_figures, tts_figures, vad_figures
from server.bench.figures import words_wrong
from server.bench.record import BenchError
from server.bench.stock_job import Heard, Job, Results, Spoken, SttJob, TtsJob, VadJob, run_stock


@pytest.fixture
def job(lock: Lock, models_dir: Path, tmp_path: Path) -> Job:
    """One sentence to hear and one short text to speak."""
    profile, store = lock.profile("ci"), Store(models_dir)
    audio = str(tmp_path / "recordings.npz")
    np.savez(audio, **{"0": recording("en")})
    tts, voices = (str(store.path(profile, role)) for role in ("tts", "voices"))
    return Job(
        VadJob(str(store.path(profile, "vad")), audio, 20),
        SttJob(str(store.path(profile, "stt")), "en", 1, audio),
        TtsJob(tts, voices, profile.voice, "en", ("Of course.",)),
    )


def test_the_stock_libraries_do_real_work_in_a_process_of_their_own(job: Job, tmp_path: Path) -> None:
    """They understand the sentence, speak the text, and take time for each window."""
    found = asyncio.run(run_stock(job, tmp_path))
    assert len(found.vad_us) == 20
    assert min(found.vad_us) > 0
    (heard,) = found.stt
    wrong, words = words_wrong(SENTENCE["en"], heard.text)
    assert wrong < words / 2
    assert heard.took_s > 0
    (spoken,) = found.tts
    assert 0.3 < spoken.audio_s < 3
    assert spoken.first_s > 0
    assert spoken.whole_s > 0


def test_a_stock_library_that_fails_is_told_in_a_line(job: Job, tmp_path: Path) -> None:
    """Its last words are the line."""
    broken = Job(VadJob("/nowhere/silero.onnx", job.vad.audio if job.vad else "", 1))
    with pytest.raises(BenchError, match=r"ended with status 1: .*silero\.onnx"):
        asyncio.run(run_stock(broken, tmp_path))


def test_detection_and_guard_are_timed_a_window_and_a_sentence(vad: Callable[[], SileroVoiceActivity]) -> None:
    """As many samples as rounds, each more than nothing."""

    async def rounds() -> list[float]:
        return await vad_us(vad(), recording("en"), 4, 10)

    took = asyncio.run(rounds())
    assert len(took) == 10
    assert min(took) > 0
    guarded = guard_us("fr", ["Nous ouvrons à neuf heures.", "Qu'en pensez-vous ?"], 3)
    assert {name: len(samples) for name, samples in guarded.items()} == {"guard of t2": 6, "guard of t1": 6}


def test_ratios_say_how_many_times_faster_than_stock() -> None:
    """Per input, stock over ours; texts of 80 characters alone count for the first audio that must come sooner."""
    short, long = "Of course.", "x" * 80
    ours, stock = [Spoken(0.2, 1.0, 2.0), Spoken(0.4, 2.0, 4.0)], [Spoken(0.2, 2.0, 2.0), Spoken(1.2, 3.0, 4.0)]
    figures = {(figure.name, figure.source): figure for figure in tts_figures([short, long], ours, stock, amx=True)}
    assert figures["TTS, first audio of long texts, times sooner", "engine"].samples == (3.0,)
    assert figures["TTS, whole text, times faster", "engine"].samples == (2.0, 1.5)
    assert figures["TTS, time for a second of audio", "stock"].samples == (1.0, 0.75)
    (whole,) = figures["TTS, whole text, times faster", "engine"].targets
    assert whole.limit == 1.5
    stt = {
        (figure.name, figure.source): figure.samples
        for figure in stt_figures([Heard(0.5, 2.0, "a b c d")], [Heard(1.5, 2.0, "a b x y")], "a b c d")
    }
    assert stt["STT, times faster", "engine"] == (3.0,)
    assert stt["STT, word errors", "stock"] == (50.0,)
    assert stt["STT, word errors more than stock", "engine"] == (-50.0,)
    vad = {figure.name: figure.samples for figure in vad_figures([50.0, 25.0], 32, [100.0])}
    assert vad["VAD, 32 streams, times faster"] == (2.0, 4.0)


def test_without_stock_there_are_no_ratios() -> None:
    """Nothing is compared with nothing, and nothing is said of words that are not known."""
    nothing = Results()
    figures = [
        *vad_figures([1.0], 1, nothing.vad_us),
        *stt_figures([Heard(0.5, 2.0, "a")], nothing.stt, ""),
        *tts_figures(["a"], [Spoken(0.2, 1.0, 2.0)], nothing.tts, amx=False),
        *llm_figures([Round(Answered(1.0, None), Answered(0.5, 20.0), Answered(0.8, None), Answered(0.2, None))]),
    ]
    assert {figure.source for figure in figures} == {"engine"}
    assert [figure.samples for figure in figures if figure.unit in ("×", "%")] == [(4.0,)], "warming alone"
    assert [figure.samples for figure in figures if figure.unit == "tokens/s"] == [(20.0,)]
