"""Trying again: when, how often, and never after the first part was handed on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import pytest

from engines.errors import EngineRefused, EngineTimeout, EngineUnavailable
from engines.http_errors import EngineAbsent
from engines.resilience import Attempt, Deadline, Retrier, RetryRules

pytestmark = pytest.mark.anyio

FAST = RetryRules(wait_initial_s=0.001, wait_max_s=0.01, wait_jitter_s=0.001)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def failing(*outcomes: Exception | str) -> Callable:
    """Return a request that fails or answers in turn."""
    script = iter(outcomes)

    async def request() -> str:
        outcome = next(script)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return request


async def test_faults_are_counted_and_absence_is_not() -> None:
    """Three faults end the tries; refused connections between them cost none."""
    absent, busy = EngineAbsent("stt", "refused"), EngineUnavailable("stt", "busy")
    retrier = Retrier("stt", "openai", FAST)
    assert await retrier.call(failing(busy, *[absent] * 9, busy, "well"), Deadline(10)) == "well"
    with pytest.raises(EngineUnavailable, match="busy"):
        await retrier.call(failing(busy, absent, busy, absent, busy, "never asked"), Deadline(10))


async def test_no_wait_is_begun_that_the_deadline_would_end() -> None:
    """With less time left than the next wait may take, the error is raised at once."""
    slow = RetryRules(wait_initial_s=1, wait_max_s=1)
    with pytest.raises(EngineAbsent):
        await Retrier("stt", "openai", slow).call(failing(EngineAbsent("stt", "refused")), Deadline(0.9))


async def test_a_stream_that_fails_before_its_first_part_is_begun_again() -> None:
    """Nothing was handed on: the caller sees one stream, whole."""
    begun = []

    async def parts() -> AsyncGenerator[str]:
        begun.append(1)
        if len(begun) < 3:
            raise EngineTimeout("llm", "late")
        yield "a"
        yield "b"

    retrier = Retrier("llm", "openai", FAST)
    assert [part async for part in retrier.stream(parts, Deadline(10))] == ["a", "b"]


async def test_a_stream_that_fails_after_its_first_part_is_final() -> None:
    """What was handed on is kept, the failure is raised, and the attempt is told as failed."""
    attempts: list[Attempt] = []

    async def parts() -> AsyncGenerator[str]:
        yield "a"
        raise EngineTimeout("llm", "late")

    stream = Retrier("llm", "openai", FAST, attempts.append).stream(parts, Deadline(10))
    assert await anext(stream) == "a"
    with pytest.raises(EngineTimeout):
        await anext(stream)
    assert [(attempt.number, attempt.outcome) for attempt in attempts] == [(1, "timeout")]


async def test_a_stream_without_parts_is_no_failure() -> None:
    """A stream may be empty: whether that is a fault its request says."""

    async def parts() -> AsyncGenerator[str]:
        for part in ():
            yield part

    assert [part async for part in Retrier("tts", "openai", FAST).stream(parts, Deadline(10))] == []


async def test_closing_a_stream_closes_its_request() -> None:
    """A reader that leaves in the middle ends the request, told as cancelled."""
    attempts: list[Attempt] = []
    closed = []

    async def parts() -> AsyncGenerator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            closed.append(True)

    stream = Retrier("tts", "openai", FAST, attempts.append).stream(parts, Deadline(10))
    assert await anext(stream) == "a"
    await stream.aclose()
    assert closed == [True]
    assert [attempt.outcome for attempt in attempts] == ["cancelled"]


async def test_a_permanent_error_is_raised_at_once() -> None:
    """A refusal is not made better by asking again."""
    with pytest.raises(EngineRefused):
        await Retrier("llm", "openai", FAST).call(failing(EngineRefused("llm", "no"), "never asked"), Deadline(10))


async def test_time_that_the_reader_takes_is_not_the_engines() -> None:
    """A reader that holds a part for a minute (audio that plays) leaves the deadline where it was."""
    clock = Clock()
    deadline = Deadline(10, clock)

    async def parts() -> AsyncGenerator[float]:
        for _ in range(3):
            clock.now += 2
            yield deadline.left()

    left = []
    async for part in Retrier("tts", "openai", FAST).stream(parts, deadline):
        left.append(part)
        clock.now += 60
    assert left == [8, 6, 4]
