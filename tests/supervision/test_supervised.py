"""A child is kept running, and its failures are told in one line."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import EngineError, EngineFault, EngineMisconfigured, EngineTimeout
from engines.supervision import RestartPolicy, Supervised

Script = Callable[[str], Callable[[int], Sequence[str]]]
WAITS = "import sys; sys.stdin.read()"


async def succeeds(base_url: str) -> None:
    """A probe that is content."""


async def never(base_url: str) -> None:
    """A probe of a child that does not answer."""
    raise EngineFault("test", "no answer yet")


def test_a_child_that_cannot_be_used_fails_at_once(script: Script, quick: RestartPolicy) -> None:
    """Exit code 78: no second start, and its last words are the error."""

    async def main() -> None:
        command = script("import sys; print('no file /nowhere', file=sys.stderr); sys.exit(78)")
        child = Supervised("test", command, never, policy=quick)
        async with child.running():
            with pytest.raises(EngineMisconfigured) as failed:
                await child.ready(10)
            assert str(failed.value) == "test: it exited with code 78: no file /nowhere"
            assert (child.state, child.restarts) == ("failed", 0)
        assert child.state == "failed"

    asyncio.run(main())


def test_a_child_that_never_gets_ready_is_given_up(script: Script, quick: RestartPolicy) -> None:
    """Three starts, each of which dies: no endless restarts."""

    async def main() -> None:
        child = Supervised("test", script("import os; os.abort()"), never, policy=quick)
        async with child.running():
            with pytest.raises(EngineMisconfigured, match="killed by signal 6"):
                await child.ready(10)
            assert (child.state, child.restarts) == ("failed", 2)

    asyncio.run(main())


def test_a_child_that_is_silent_is_killed_when_its_time_is_up(script: Script, quick: RestartPolicy) -> None:
    """It runs and does not answer: the start times out, and what the probe saw is told."""

    async def main() -> None:
        policy = replace(quick, start_timeout_s=0.3, max_starts=1)
        child = Supervised("test", script(WAITS), never, policy=policy)
        async with child.running():
            with pytest.raises(EngineMisconfigured, match=r"not ready after 0\.3 s\. test: no answer yet"):
                await child.ready(10)
            assert child.pid is None

    asyncio.run(main())


def test_a_first_inference_that_can_never_succeed_ends_the_start(script: Script, quick: RestartPolicy) -> None:
    """A permanent error of the probe is not polled until the time is up."""

    async def refuses(base_url: str) -> None:
        raise EngineMisconfigured("test", "unknown voice")

    async def main() -> None:
        child = Supervised("test", script(WAITS), refuses, policy=replace(quick, max_starts=1))
        async with child.running():
            with pytest.raises(EngineMisconfigured, match="its first inference failed: test: unknown voice"):
                await child.ready(10)

    asyncio.run(main())


def test_waiting_for_readiness_has_an_end(script: Script, quick: RestartPolicy) -> None:
    """The error names the state and what was seen last."""

    async def main() -> None:
        child = Supervised("test", script(WAITS), never, policy=quick)
        async with child.running():
            with pytest.raises(EngineTimeout, match=r"not ready after 0\.3 s, it is starting"):
                await child.ready(0.3)

    asyncio.run(main())


def test_a_child_that_was_ready_is_restarted_as_often_as_it_dies(script: Script, quick: RestartPolicy) -> None:
    """More often than a start is tried, each time a new process, at the same address."""

    async def main() -> None:
        child = Supervised("test", script(WAITS), succeeds, policy=quick)
        seen, address = set(), child.base_url
        async with child.running():
            for deaths in range(5):
                await child.ready(10)
                assert (child.restarts, child.base_url) == (deaths, address)
                assert child.pid is not None
                seen.add(child.pid)
                os.kill(child.pid, signal.SIGKILL)
                await child.reaches("restarting")
            assert child.failure == "it was killed by signal 9"
        assert len(seen) == 5

    asyncio.run(main())


def test_a_probe_that_fails_at_first_is_asked_again(script: Script, quick: RestartPolicy) -> None:
    """A child that loads refuses connections for a while: that is no failure."""
    answers: list[EngineError | None] = [EngineFault("test", "loading"), EngineFault("test", "loading"), None]

    async def probe(base_url: str) -> None:
        if error := answers.pop(0):
            raise error

    async def main() -> None:
        child = Supervised("test", script(WAITS), probe, policy=quick)
        async with child.running():
            await child.ready(10)
            assert (answers, child.restarts, child.failure) == ([], 0, "test: loading")

    asyncio.run(main())


def test_a_child_whose_port_was_taken_gets_another(script: Script, quick: RestartPolicy) -> None:
    """Exit code 75: the next start has a new port."""

    async def main() -> None:
        ports: list[int] = []

        def command(port: int) -> Sequence[str]:
            ports.append(port)
            return script("import sys; sys.exit(75)" if len(ports) == 1 else WAITS)(port)

        async def answers(base_url: str) -> None:
            if len(ports) == 1:
                raise EngineFault("test", "no answer")

        child = Supervised("test", command, answers, policy=quick)
        async with child.running():
            await child.ready(10)
            assert ports[0] != ports[1]
            assert child.base_url == f"http://127.0.0.1:{ports[1]}/v1"

    asyncio.run(main())


def test_a_child_that_ignores_sigterm_is_killed(script: Script, quick: RestartPolicy) -> None:
    """The stop is bounded, and the process is gone when it returns."""

    async def main() -> None:
        code = (
            "import signal, socket, sys\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "server = socket.create_server(('127.0.0.1', PORT))\n"
            "sys.stdin.read()"
        )

        async def probe(base_url: str) -> None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", int(base_url[17:].removesuffix("/v1")))
            except OSError as error:
                raise EngineFault("test", "it does not ignore the signal yet") from error
            writer.close()

        child = Supervised("test", script(code), probe, policy=quick)
        async with child.running():
            await child.ready(10)
            pid = child.pid
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    asyncio.run(main())


def test_a_stopped_child_is_never_ready(script: Script, quick: RestartPolicy) -> None:
    """Who waits for it is told."""

    async def main() -> None:
        child = Supervised("test", script(WAITS), succeeds, policy=quick)
        async with child.running():
            await child.ready(10)
        assert (child.state, child.pid) == ("stopped", None)
        with pytest.raises(EngineMisconfigured, match="it is stopped"):
            await child.ready(1)

    asyncio.run(main())


def test_a_child_with_endless_errors_does_not_block(script: Script, quick: RestartPolicy) -> None:
    """Standard error is drained and bounded, lines longer than any buffer included; the last line is kept."""

    async def main() -> None:
        code = "import sys; sys.stderr.write('x' * 300_000 + '\\n' + 'y\\n' * 5_000 + 'the end\\n'); sys.exit(78)"
        child = Supervised("test", script(code), never, policy=quick)
        async with child.running():
            with pytest.raises(EngineMisconfigured, match=r": the end$"):
                await child.ready(10)

    asyncio.run(main())


@given(st.integers(1, 10_000))
def test_waits_grow_and_are_bounded(crashes: int) -> None:
    """From the first wait to the longest, never back."""
    policy = RestartPolicy()
    assert policy.first_wait_s <= policy.wait_s(crashes) <= policy.wait_s(crashes + 1) <= policy.max_wait_s
