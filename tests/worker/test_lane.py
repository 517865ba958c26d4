"""One thread, shared fairly and bounded."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import aclosing

import pytest

from engines.worker.lane import Lane, LaneFull


def steps(name: str, count: int, done: list[str]) -> Generator[str, None, None]:
    try:
        for number in range(count):
            done.append(f"{name}{number}")
            yield f"{name}{number}"
    finally:
        done.append(f"{name} closed")


async def drain(lane: Lane, job: Generator[str, None, None]) -> list[str]:
    return [step async for step in lane.run(job)]


def test_one_job_too_many_is_refused_and_never_begins() -> None:
    """The refusal is a 429 that says when to come back."""

    async def main() -> None:
        lane, done = Lane("stt", 1), []
        async with aclosing(lane.run(steps("a", 2, done))) as first:
            await anext(first)
            with pytest.raises(LaneFull) as refused:
                await drain(lane, steps("b", 1, done))
        assert (refused.value.status, refused.value.retry_after_s) == (429, 1)
        assert await drain(lane, steps("c", 1, done)) == ["c0"]
        assert "b0" not in done

    asyncio.run(main())


def test_two_jobs_take_turns() -> None:
    """The second caller's first step comes after one step of the first, not after all of them."""

    async def main() -> None:
        lane, done = Lane("tts", 2), []
        results = await asyncio.gather(drain(lane, steps("a", 3, done)), drain(lane, steps("b", 3, done)))
        assert results == [["a0", "a1", "a2"], ["b0", "b1", "b2"]]
        assert [step for step in done if "closed" not in step] == ["a0", "b0", "a1", "b1", "a2", "b2"]

    asyncio.run(main())


def test_a_first_step_goes_before_later_ones() -> None:
    """Two callers wait for their next pieces when a third asks for its first: it has it after the piece in progress."""

    async def main() -> None:
        lane, done = Lane("tts", 4), []
        inside, go_on = threading.Event(), threading.Event()

        def held() -> Generator[str, None, None]:
            inside.set()
            go_on.wait(10)
            yield "held"

        async with aclosing(lane.run(steps("a", 2, done))) as a, aclosing(lane.run(steps("b", 2, done))) as b:
            await asyncio.gather(anext(a), anext(b))
            running = asyncio.create_task(drain(lane, held()))
            await asyncio.to_thread(inside.wait, 10)
            later = [asyncio.create_task(anext(job)) for job in (a, b)]
            await asyncio.sleep(0)
            first = asyncio.create_task(drain(lane, steps("c", 1, done)))
            await asyncio.sleep(0)
            go_on.set()
            await asyncio.gather(running, first, *later)
        assert [step for step in done if "closed" not in step] == ["a0", "b0", "c0", "a1", "b1"]

    asyncio.run(main())


def test_a_dropped_job_ends_after_the_step_it_is_in() -> None:
    """Cancelling returns at once and frees the place; the thread's step ends on its own, no other follows."""

    async def main() -> None:
        lane, done = Lane("stt", 1), []
        inside, go_on = threading.Event(), threading.Event()

        def job() -> Generator[str, None, None]:
            try:
                inside.set()
                go_on.wait(10)
                yield "one"
                done.append("two")
            finally:
                done.append("closed")

        task = asyncio.create_task(drain(lane, job()))
        await asyncio.to_thread(inside.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (lane.open_jobs, lane.running, lane.waiting, done) == (0, 1, 0, [])
        go_on.set()
        assert await drain(lane, steps("next", 1, [])) == ["next0"]
        assert done == ["closed"]

    asyncio.run(main())


def test_a_lane_tells_what_runs_and_what_waits() -> None:
    """One step is on the thread, the other job's waits for it; a job between two steps is open and neither."""

    async def main() -> None:
        lane, inside, go_on = Lane("tts", 3), threading.Event(), threading.Event()

        def job() -> Generator[str, None, None]:
            inside.set()
            go_on.wait(10)
            yield "one"

        async with aclosing(lane.run(steps("a", 2, []))) as idle:
            await anext(idle)
            first = asyncio.create_task(drain(lane, job()))
            await asyncio.to_thread(inside.wait, 10)
            second = asyncio.create_task(drain(lane, steps("c", 1, [])))
            await asyncio.sleep(0)
            assert (lane.open_jobs, lane.running, lane.waiting) == (3, 1, 1)
            go_on.set()
            await asyncio.gather(first, second)
            assert (lane.open_jobs, lane.running, lane.waiting) == (1, 0, 0)
        assert lane.steps_begun == 1 + 2 + 2

    asyncio.run(main())


def test_a_failing_job_fails_its_caller_and_no_other() -> None:
    """The error comes out where the job is read, and the place is free again."""

    def job() -> Generator[str, None, None]:
        yield "one"
        raise ValueError("broken")

    async def main() -> None:
        lane = Lane("stt", 1)
        with pytest.raises(ValueError, match="broken"):
            await drain(lane, job())
        assert await drain(lane, steps("next", 1, [])) == ["next0"]

    asyncio.run(main())
