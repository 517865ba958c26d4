"""Engines elsewhere that fail where there is a fallback: at the start, in mid-exam, and when they are back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from engines.breaker import Breaker, ProbeRules, keep_probing

pytestmark = pytest.mark.thorough

SLACK_S = 5.0
"""Room for a machine that others use as well."""
FIRST_PROBE_S, SECOND_PROBE_S = 5.0, 10.0
"""How long a skipped engine waits for its first probe, and for the next one after that."""
WATCH_S = 1.0
KINDS = ("stt", "llm", "tts")
CHUNKS_OF_THE_TONE = 5
"""Frames of the half a second by which the voice elsewhere is known."""
SKIPPED = "relance_engine_skipped"


async def is_skipped(look: Any, backend: str, skipped: bool) -> bool:
    """Whether the metrics say so."""
    return await look.figure(SKIPPED, backend=backend) == skipped


async def until_back(look: Any, *backends: str) -> None:
    """Wait until these are asked again."""
    for backend in backends:
        await look.until(partial(is_skipped, look, backend, False))


async def all_well(look: Any, doubles: Any) -> None:
    """Have every engine there, and wait until it is asked."""
    for double in doubles.all:
        double.listen()
    await until_back(look, *KINDS)


async def test_a_server_starts_on_its_fallbacks(
    backed: Any, sit: Any, watch: Any, dickens: Any, replies: tuple[str, str]
) -> None:
    """Neither speech to text nor language model was there at the start: it is ready, and serves by the others.

    Both come while an exam is held, and are used from then on in that very exam.
    """
    (doubles, fallback), look = backed, watch(backed[0].server)
    for backend, skipped in {"stt": 1, "llm": 1, "tts": 0, "stt_fallback": 0, "llm_fallback": 0}.items():
        await look.until(partial(is_skipped, look, backend, skipped))
    async with sit(doubles.server, "t2", "early") as candidate:
        await candidate.say(dickens(9, 11))
        await candidate.until("turnComplete")
        assert (doubles.llm.exchanges, doubles.stt.exchanges) == ([], [])

        doubles.llm.listen()
        doubles.stt.listen()
        await until_back(look, "stt", "llm")
        answered = len(fallback.exchanges)
        await candidate.say(dickens(9, 11))
        await candidate.until("turnComplete", 2)
        assert len(doubles.stt.exchanges) == len(doubles.llm.exchanges) == 2  # a probe, then the candidate
        assert len(fallback.exchanges) == answered
        await candidate.end()
        assert await candidate.until_closed() == (1000, "")
    assert candidate.heard_as("examiner") == list(reversed(replies))


async def test_a_silent_model_costs_one_slow_turn(
    backed: Any,
    answers: Any,
    sit: Any,
    watch: Any,
    dickens: Any,
    replies: tuple[str, str],
    patient_reply_timeout_s: float,
) -> None:
    """Half of the first turn is waited for it, and nothing of the second; it is used again as soon as a probe succeeds.

    While it is skipped it gets no request of the exam.
    """
    (doubles, _), look, half_s = backed, watch(backed[0].server), patient_reply_timeout_s / 2
    llm, scene = doubles.llm, (await look.subjects())[1]["consigne"][:40]
    await all_well(look, doubles)
    timeouts = await look.figure("relance_engine_attempts_total", engine="llm", outcome="timeout")
    asked = len(llm.asked(scene))
    llm.tell(answers.silent, scene)
    llm.tell(answers.status(500))
    async with sit(doubles.server, "t2", "patient", subject=1) as candidate:

        async def answer_to(turn: int) -> float:
            await candidate.say(dickens(9, 11))
            await candidate.until("turnComplete", turn)
            spoken = candidate.of("caption")
            understood = [frame.at_s for frame in spoken if frame.content["role"] == "candidate"][-1]
            return min(frame.at_s for frame in candidate.of("audio") if frame.at_s > understood) - understood

        slow_s = await answer_to(1)
        await look.until(partial(is_skipped, look, "llm", True))
        skipped_at = time.monotonic()
        quick_s = await answer_to(2)
        assert 0.6 * half_s <= slow_s <= half_s + SLACK_S  # it may be asked a little before the words are told
        assert quick_s < half_s / 2
        assert len(llm.asked(scene)) == asked + 1
        assert await look.figure("relance_engine_attempts_total", engine="llm", outcome="timeout") == timeouts + 1

        llm.tell(answers.says(replies[0]), scene)
        llm.tell(answers.says(replies[0]))
        await until_back(look, "llm")
        assert time.monotonic() - skipped_at <= FIRST_PROBE_S + SECOND_PROBE_S + WATCH_S + SLACK_S
        await answer_to(3)
        assert len(llm.asked(scene)) == asked + 2
        await candidate.end()
        assert await candidate.until_closed() == (1000, "")
    assert candidate.heard_as("examiner") == [replies[1], replies[1], replies[0]]


async def test_engines_that_refuse_are_asked_each_time(
    backed: Any, answers: Any, sit: Any, watch: Any, dickens: Any, replies: tuple[str, str]
) -> None:
    """Wrong keys cost no waiting: the fallbacks serve at once, and nothing is skipped."""
    (doubles, _), look = backed, watch(backed[0].server)
    await all_well(look, doubles)
    for double in doubles.all:
        double.tell(answers.status(401))
    asked = [len(double.exchanges) for double in doubles.all]
    try:
        async with sit(doubles.server, "t2", "keyless") as candidate:
            for turn in (1, 2):
                await candidate.say(dickens(9, 11))
                await candidate.until("turnComplete", turn)
            await candidate.end()
            await candidate.until("report")
        for backend in KINDS:
            assert await is_skipped(look, backend, False)
    finally:
        for double, well in zip(doubles.all, (doubles.hears, answers.says(replies[0]), answers.SOUNDS), strict=True):
            double.tell(well)
    assert candidate.heard_as("examiner") == [replies[1]] * 2
    assert [len(double.exchanges) - before for double, before in zip(doubles.all, asked, strict=True)] == [2, 3, 2]


def one_after_another(*faults: Any) -> Callable[[Any], Any]:
    """Fail in a different way with each try."""
    return lambda exchange: faults[(exchange.number - 1) % len(faults)](exchange)


FAULTS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "refused": lambda a: (None, None),
    "accepted, then silent": lambda a: (a.silent, a.silent),
    "three faults in three tries": lambda a: (
        one_after_another(a.status(500), a.NONSENSE, a.PAGE),
        one_after_another(a.status(500), a.PAGE, a.whole(a.PCM)),
    ),
}
"""How speech to text and the voice elsewhere fail, both in the same turn."""


@pytest.mark.parametrize("fault", FAULTS)
async def test_speech_falls_back_on_the_worker(
    backed: Any, answers: Any, sit: Any, watch: Any, dickens: Any, replies: tuple[str, str], fault: str
) -> None:
    """Both speech engines elsewhere fail in one turn: its words are understood and its answer is spoken all the same.

    Each is skipped, and back after its first probe if it is well by then.
    """
    (doubles, _), look = backed, watch(backed[0].server)
    await all_well(look, doubles)
    fail(doubles, FAULTS[fault](answers))
    try:
        async with sit(doubles.server, "t2", f"speech {fault}") as candidate:
            await candidate.say(dickens(9, 11))
            understood = await candidate.until("caption", role="candidate")
            await look.until(partial(is_skipped, look, "stt", True))
            heal(doubles.stt, doubles.hears)
            await candidate.until("audio")
            await look.until(partial(is_skipped, look, "tts", True))
            heal(doubles.tts, answers.SOUNDS)
            await candidate.until("turnComplete")
    finally:
        heal(doubles.stt, doubles.hears)
        heal(doubles.tts, answers.SOUNDS)
    assert "belief" in understood.content["text"].lower()
    assert candidate.heard_as("examiner") == [replies[0]]
    assert len(candidate.of("audio")) > CHUNKS_OF_THE_TONE


async def test_an_answer_that_breaks_off_in_its_sound_ends_there(
    backed: Any, answers: Any, sit: Any, watch: Any, dickens: Any, replies: tuple[str, str]
) -> None:
    """What was made of it is heard, nobody begins it anew; the next answer is spoken by the fallback."""
    (doubles, _), look = backed, watch(backed[0].server)
    await all_well(look, doubles)
    doubles.tts.tell(answers.broken_off(answers.PCM, answers.tone(0.3)))
    try:
        async with sit(doubles.server, "t2", "broken") as candidate:
            await candidate.say(dickens(9, 11))
            await candidate.until("turnComplete")
            assert len(candidate.of("audio")) == 3
            await candidate.say(dickens(9, 11))
            await candidate.until("turnComplete", 2)
            assert len(candidate.of("audio")) > 3 + CHUNKS_OF_THE_TONE
            await candidate.end()
            assert await candidate.until_closed() == (1000, "")
    finally:
        heal(doubles.tts, answers.SOUNDS)
    assert candidate.heard_as("examiner") == [replies[0]] * 2


def fail(doubles: Any, faults: tuple[Any, Any]) -> None:
    """Have both speech engines fail; ``None``: they are not there."""
    for double, fault in zip((doubles.stt, doubles.tts), faults, strict=True):
        if fault is None:
            double.refuse()
        else:
            double.tell(fault)


def heal(double: Any, well: Any) -> None:
    """Have it well again."""
    double.tell(well)
    double.listen()


async def test_a_probe_that_hangs_is_given_up_and_made_again() -> None:
    """It may take as long as the wait after it: the backend, well again meanwhile, is not skipped for a minute more."""
    breaker, hanging, probes = Breaker(), asyncio.Event(), []

    async def probe() -> None:
        probes.append(len(probes))
        if len(probes) == 1:
            await hanging.wait()

    breaker.open()
    probing = asyncio.create_task(keep_probing(breaker, probe, ProbeRules(first_wait_s=0.01, max_wait_s=0.02)))
    async with asyncio.timeout(10):
        while breaker.is_open:  # noqa: ASYNC110 - a breaker tells of its opening alone
            await asyncio.sleep(0.01)
    probing.cancel()
    assert probes == [0, 1]
