from __future__ import annotations

import asyncio
import itertools
import time

import numpy as np
import pytest

from server.client.candidate import Candidate, Manner
from server.client.chronicle import Chronicle
from server.client.events import CandidateSilent, CandidateSpeaks, Closed, EndSent, TurnComplete
from server.client.mix import Recording
from server.client.session import open_exam
from server.client.sitting import sit_exam

CHUNK = 1_600


def voice(samples: int, seed: int = 0) -> np.ndarray:
    """No sample of it is zero: what is zero on the other side is silence."""
    return np.random.default_rng(seed).integers(1, 10_000, samples).astype(np.int16)


def sit(serving, script, turns, manner, **patience) -> tuple[Chronicle, object]:
    async def exam():
        chronicle = Chronicle()
        async with serving(script) as server:
            async with open_exam(f"{server.url}/t1/live") as client:
                candidate = Candidate(client, turns, manner, notice=chronicle.note)
                await sit_exam(client, candidate, chronicle.note, **patience)
            return chronicle, server.exams[0]

    return asyncio.run(exam())


FAST = Manner(speed=100, silence_after_s=1.0)
FAST_DIALOGUE = Manner(waits_for_answers=True, speed=100)


def test_a_monologue_arrives_whole_then_silence_then_the_end(serving, report):
    """T1: every sample of every file, in order, then the silence that was asked for, then one ``end``."""
    first, second = voice(3 * CHUNK + 7), voice(CHUNK, seed=1)

    async def script(candidate):
        await candidate.hear_until("end")
        await candidate.say({"type": "report", "data": report})
        await candidate.close()

    chronicle, heard = sit(serving, script, [first, second], FAST)
    expected = np.concatenate([first, second, np.zeros(16_000, np.int16)])
    assert np.array_equal(heard.voice, expected)
    assert heard.types.count("end") == 1
    assert chronicle.report == report
    assert chronicle.closed == Closed(1000, "")


def test_nothing_is_sent_while_interrupted_and_no_word_is_lost(serving, examiner_audio):
    """T1: from the moment the interruption is known to its end nothing arrives; then the voice goes on where it was."""
    spoken = voice(40 * CHUNK)
    arrived_during = []

    async def script(candidate):
        await candidate.hear(10 * CHUNK)
        await candidate.say({"type": "interruption_start"})
        await candidate.catch_up()
        known = len(candidate.types)
        await candidate.say(examiner_audio("t1", 2_400), {"serverContent": {"turnComplete": True}})
        await candidate.catch_up()
        arrived_during.append(len(candidate.types) - known)
        assert candidate.voice.size < spoken.size
        await candidate.say({"type": "interruption_end"})
        await candidate.hear_until("end")
        await candidate.close()

    _, heard = sit(serving, script, [spoken], FAST)
    assert arrived_during == [0]
    assert np.array_equal(heard.voice[: spoken.size], spoken)
    assert not heard.voice[spoken.size :].any()


def test_the_chunk_that_is_being_spoken_is_held_back(serving):
    """T1: the interruption comes between two chunks: the second, half spoken, is not sent, but spoken again."""
    spoken = voice(4 * CHUNK)

    async def script(candidate):
        await candidate.hear(2 * CHUNK)
        await candidate.say({"type": "interruption_start"})
        await candidate.catch_up(quiet_s=0.12)  # two chunks at this speed
        assert candidate.voice.size == 2 * CHUNK
        await candidate.say({"type": "interruption_end"})
        await candidate.hear_until("end")
        await candidate.close()

    _, heard = sit(serving, script, [spoken], Manner(speed=2, silence_after_s=0))
    assert np.array_equal(heard.voice, spoken)


def test_after_an_interruption_nothing_is_made_up_for(serving):
    """T1: the time of the interruption is not spoken faster afterwards: the pace is the microphone's again."""

    async def script(candidate):
        await candidate.hear(2 * CHUNK)
        await candidate.say({"type": "interruption_start"})
        await candidate.catch_up(quiet_s=0.2)
        began, had = time.monotonic(), candidate.voice.size
        await candidate.say({"type": "interruption_end"})
        await candidate.hear(had + 8 * CHUNK)
        assert time.monotonic() - began >= 8 * 0.025 - 0.02
        await candidate.close()

    sit(serving, script, [voice(40 * CHUNK)], Manner(speed=4))


def test_silence_waits_for_an_interruption_too(serving):
    """T1: an interruption after the last word holds back the silence and the ``end``."""
    spoken = voice(CHUNK)

    async def script(candidate):
        await candidate.hear(2 * CHUNK)
        await candidate.say({"type": "interruption_start"})
        await candidate.catch_up()
        assert "end" not in candidate.types
        await candidate.say({"type": "interruption_end"})
        await candidate.hear_until("end")
        await candidate.close()

    _, heard = sit(serving, script, [spoken], Manner(speed=20, silence_after_s=2.0))
    assert heard.voice.size == CHUNK + 32_000


def test_a_candidate_waits_for_each_answer_in_silence(serving, examiner_audio):
    """T2: after a turn there is only silence until ``turnComplete``; then the next turn is spoken, then the end."""
    questions = [voice(4 * CHUNK), voice(3 * CHUNK, seed=1)]
    heard_between = []

    async def script(candidate):
        for question in questions:
            began = candidate.voice.size
            while candidate.voice[began:].astype(bool).sum() < question.size:
                await candidate.take()
            await candidate.hear(candidate.voice.size + 5 * CHUNK)
            heard_between.append(candidate.voice[began:].astype(bool).sum())
            await candidate.say(examiner_audio("t2", 2_400), {"type": "turnComplete"})
        await candidate.hear_until("end")
        await candidate.close()

    chronicle, heard = sit(serving, script, questions, FAST_DIALOGUE)
    assert heard_between == [question.size for question in questions]
    assert heard.voice[heard.voice != 0].tolist() == np.concatenate(questions).tolist()
    order = [type(timed.event) for timed in chronicle.events if not hasattr(timed.event, "pcm")]
    turn = [CandidateSpeaks, CandidateSilent, TurnComplete]
    assert order == [*turn, *turn, EndSent, Closed]


def test_a_turn_complete_that_comes_while_speaking_is_no_answer(serving):
    """T2: what ends before the candidate has asked answers nothing; the next ``turnComplete`` does."""

    async def script(candidate):
        await candidate.hear(CHUNK)
        await candidate.say({"type": "turnComplete"})
        await candidate.hear(30 * CHUNK)
        assert "end" not in candidate.types
        await candidate.say({"type": "turnComplete"})
        await candidate.hear_until("end")
        await candidate.close()

    sit(serving, script, [voice(20 * CHUNK)], Manner(waits_for_answers=True, speed=20))


def test_without_an_answer_the_candidate_goes_on(serving):
    """T2: an examiner who stays silent is waited for as long as the patience lasts, no longer."""

    async def script(candidate):
        await candidate.hear_until("end")
        await candidate.close()

    manner = Manner(waits_for_answers=True, speed=100, answer_patience_s=0.05)
    chronicle, heard = sit(serving, script, [voice(CHUNK), voice(CHUNK)], manner)
    assert np.count_nonzero(heard.voice) == 2 * CHUNK
    assert any(isinstance(timed.event, EndSent) for timed in chronicle.events)


def test_an_examiner_who_speaks_is_not_given_up(serving, examiner_audio):
    """T2: each piece of the answer renews the patience, so that a long answer is heard to its end."""

    async def script(candidate):
        await candidate.hear(CHUNK)
        for _ in range(10):
            await candidate.hear(candidate.voice.size + 50 * CHUNK)  # 50 ms at this speed
            await candidate.say(examiner_audio("t2", 240))
        assert "end" not in candidate.types
        await candidate.say({"type": "turnComplete"})
        await candidate.hear_until("end")
        await candidate.close()

    sit(serving, script, [voice(CHUNK)], Manner(waits_for_answers=True, speed=100, answer_patience_s=0.3))


def test_push_to_talk_frames_each_turn(serving):
    """``vad=manual``: ``activityStart`` before a turn's first sample, ``activityEnd`` after its last."""
    marks = []

    async def script(candidate):
        await candidate.hear_until("activityStart")
        marks.append(candidate.voice.size)
        await candidate.hear_until("activityEnd")
        marks.append(candidate.voice.size)
        await candidate.say({"type": "turnComplete"})
        await candidate.hear_until("end")
        await candidate.close()

    sit(serving, script, [voice(3 * CHUNK + 1)], Manner(waits_for_answers=True, push_to_talk=True, speed=100))
    assert marks == [0, 3 * CHUNK + 1]


def test_real_time_is_kept(serving):
    """At speed 4, 1.2 s of audio take 300 ms: no chunk leaves before its last sample was spoken."""

    async def script(candidate):
        began = time.monotonic()
        for chunk in range(1, 13):
            await candidate.hear(chunk * CHUNK)
            assert time.monotonic() - began >= chunk * 0.025 - 0.02
        await candidate.close()

    sit(serving, script, [voice(12 * CHUNK)], Manner(speed=4))


def test_a_server_that_ends_the_exam_ends_the_candidate(serving, report):
    """The time is up in the middle of a sentence: the report counts, and nothing more is sent."""

    async def script(candidate):
        await candidate.hear(3 * CHUNK)
        await candidate.say({"type": "report", "data": report})
        await candidate.close()

    chronicle, heard = sit(serving, script, itertools.repeat(voice(CHUNK)), FAST)
    assert chronicle.report == report
    assert "end" not in heard.types


def test_a_close_in_an_interruption_frees_the_waiting_candidate(serving):
    """T1: a server that goes while the candidate is silent ends the exam."""

    async def script(candidate):
        await candidate.hear(CHUNK)
        await candidate.say({"type": "interruption_start"})
        await candidate.catch_up()
        await candidate.close(4006, "GEMINI_DISCONNECTED")

    chronicle, _ = sit(serving, script, [voice(100 * CHUNK)], FAST)
    assert chronicle.closed == Closed(4006, "GEMINI_DISCONNECTED")


def test_a_connection_that_breaks_is_told_as_1006(serving):
    """Without a close frame the last event is a close with 1006, as the protocol's own word for it."""

    async def script(candidate):
        await candidate.hear(CHUNK)
        await candidate.drop()

    chronicle, _ = sit(serving, script, [voice(100 * CHUNK)], FAST)
    assert chronicle.closed == Closed(1006, "")


def test_a_report_that_never_comes_is_not_waited_for_for_ever(serving):
    """After the ``end`` the server has so long; then the exam is left."""

    async def script(candidate):
        await candidate.hear_until("end")
        with pytest.raises(AssertionError, match="gone"):
            await candidate.take()

    with pytest.raises(TimeoutError):
        sit(serving, script, [voice(1)], FAST, report_patience_s=0.05)


@pytest.mark.parametrize("interrupted", [True, False])
def test_leaving_asks_for_the_end_once(serving, interrupted):
    """Told to leave, the candidate stops in mid-voice, interrupted or not, and sends one ``end``."""

    async def exam():
        async def script(candidate):
            await candidate.hear(CHUNK)
            if interrupted:
                await candidate.say({"type": "interruption_start"})
                await candidate.catch_up()
            sitting_candidate[0].leave()
            await candidate.hear_until("end")
            await candidate.catch_up()
            await candidate.close()

        sitting_candidate = []
        async with serving(script) as server, open_exam(f"{server.url}/t1/live") as client:
            chronicle = Chronicle()
            sitting_candidate.append(Candidate(client, itertools.repeat(voice(CHUNK)), FAST, notice=chronicle.note))
            await sit_exam(client, sitting_candidate[0], chronicle.note)
            return server.exams[0]

    assert asyncio.run(exam()).types.count("end") == 1


def test_the_recording_has_the_voice_where_it_was_spoken(serving):
    """At real time, the candidate's chunks lie in the recording without a gap, from the first moment on."""
    spoken = voice(2 * CHUNK)

    async def exam():
        async def script(candidate):
            await candidate.hear_until("end")
            await candidate.close()

        pieces = []
        async with serving(script) as server, open_exam(f"{server.url}/t1/live") as client:
            candidate = Candidate(
                client, [spoken], Manner(silence_after_s=0), spoke=lambda at_s, pcm: pieces.append((at_s, pcm))
            )
            await sit_exam(client, candidate, lambda timed: None)
        return pieces

    pieces = asyncio.run(exam())
    starts = [round(at_s * 16_000) for at_s, _ in pieces]
    assert starts[1] - starts[0] == CHUNK
    assert 0 <= starts[0] < CHUNK
    recording = Recording()
    for at_s, pcm in pieces:
        recording.candidate_spoke(at_s, pcm)
    mixed = recording.mix(1.0)
    assert not mixed[: max(0, starts[0] * 3 // 2 - 30)].any()
