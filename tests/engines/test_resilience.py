"""One engine out of several backends: when and how often each is asked, and never another after the first part."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest

from engines.breaker import Breaker, ProbeRules, keep_probing
from engines.deadline import Deadline, unhurried
from engines.errors import EngineError, EngineFault, EngineRefused, EngineTimeout, EngineUnavailable
from engines.http_errors import EngineAbsent
from engines.resilience import Attempt, Backend, Resilience
from engines.retries import RetryRules

pytestmark = pytest.mark.anyio

FAST = RetryRules(wait_initial_s=0.001, wait_max_s=0.01, wait_jitter_s=0.001)

BUSY, ABSENT = EngineUnavailable("stt", "busy"), EngineAbsent("stt", "refused")
REFUSED = EngineRefused("stt", "no such model")
HANG = object()

Outcome = Exception | str | object


class Peer:
    """A backend's adapter that fails, hangs or answers in turn; at the end of its script, as in its last line."""

    def __init__(self, *script: Outcome) -> None:
        self.script = script
        self.asked: list[float] = []
        """The ``timeout_s`` of each request."""
        self.closed = 0
        self.hangs = asyncio.Event()

    async def next(self, timeout_s: float) -> str:
        outcome = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(timeout_s)
        if outcome is HANG:
            self.hangs.set()
            await asyncio.Event().wait()
        if isinstance(outcome, Exception):
            raise outcome
        return str(outcome)

    async def parts(self, timeout_s: float) -> AsyncGenerator[str]:
        """Yield the outcome letter by letter; ``!`` in it is a failure."""
        try:
            for letter in await self.next(timeout_s):
                if letter == "!":
                    raise EngineTimeout("llm", "late")
                yield letter
        finally:
            self.closed += 1


class Room:
    """One kind over some peers, and what was observed."""

    def __init__(self, *peers: Peer, is_own: bool = False, rules: RetryRules = FAST) -> None:
        self.attempts: list[Attempt] = []
        self.backends = [Backend(peer, f"style{n}", is_own) for n, peer in enumerate(peers)]
        self.resilience = Resilience("stt", self.backends, rules, self.attempts.append)

    async def call(self, timeout_s: float = 10) -> str:
        return await self.resilience.call(lambda peer, left_s: peer.next(left_s), timeout_s)

    def stream(self, timeout_s: float = 10) -> AsyncGenerator[str]:
        return self.resilience.stream(lambda peer, left_s: peer.parts(left_s), timeout_s)

    async def text(self, timeout_s: float = 10) -> str:
        return "".join([part async for part in self.stream(timeout_s)])

    @property
    def outcomes(self) -> list[tuple[str, int, str]]:
        return [(each.style, each.number, each.outcome) for each in self.attempts]


@pytest.fixture(params=["call", "text"])
def ask(request: pytest.FixtureRequest) -> Callable:
    """Either way of asking: for a whole answer, or for a stream."""
    return lambda room, timeout_s=10: getattr(room, request.param)(timeout_s)


async def test_faults_are_counted_and_absence_of_an_own_process_is_not(ask) -> None:
    """Three faults end the tries; refused connections between them cost none where we start the process again."""
    assert await ask(Room(Peer(BUSY, *[ABSENT] * 9, BUSY, "well"), is_own=True)) == "well"
    with pytest.raises(EngineUnavailable, match="busy"):
        await ask(Room(Peer(BUSY, ABSENT, BUSY, ABSENT, BUSY, "never asked"), is_own=True))


async def test_absence_elsewhere_is_a_fault(ask) -> None:
    """Nobody starts another's server for us: three tries."""
    peer = Peer(ABSENT, ABSENT, ABSENT, "never asked")
    with pytest.raises(EngineAbsent):
        await ask(Room(peer))
    assert len(peer.asked) == 3


async def test_no_wait_is_begun_that_the_deadline_would_end(ask) -> None:
    """With less time left than the next wait may take, the error is raised at once."""
    room = Room(Peer(ABSENT), is_own=True, rules=RetryRules(wait_initial_s=1, wait_max_s=1))
    with pytest.raises(EngineAbsent):
        await ask(room, 0.9)


async def test_a_permanent_error_is_raised_at_once(ask) -> None:
    """A refusal is not made better by asking again."""
    room = Room(Peer(REFUSED, "never asked"))
    with pytest.raises(EngineRefused):
        await ask(room)
    assert room.outcomes == [("style0", 1, "refused")]


async def test_a_transient_error_is_tried_again_and_then_goes_to_the_fallback(ask) -> None:
    """Three tries on the primary, then the fallback's answer."""
    room = Room(Peer(BUSY), Peer("well"))
    assert await ask(room) == "well"
    assert room.outcomes == [("style0", n, "unavailable") for n in (1, 2, 3)] + [("style1", 1, "ok")]


async def test_a_permanent_error_goes_to_the_fallback_at_once_and_skips_nothing(ask) -> None:
    """It may be the request's own: the next request asks the primary again."""
    primary = Peer(REFUSED, "well")
    room = Room(primary, Peer("of the fallback"))
    assert await ask(room) == "of the fallback"
    assert await ask(room) == "well"
    assert len(primary.asked) == 2


async def test_the_last_error_is_raised_when_both_fail(ask) -> None:
    """The fallback is tried as often as the primary; its error is what the caller learns."""
    room = Room(Peer(BUSY), Peer(EngineFault("stt", "nonsense")))
    with pytest.raises(EngineFault):
        await ask(room)
    assert len(room.attempts) == 6


async def test_a_primary_that_is_silent_leaves_time_for_the_fallback(ask) -> None:
    """It has half of the turn; then the other answers, with the rest."""
    fallback = Peer("well")
    room = Room(Peer(HANG), fallback)
    assert await ask(room, 1.0) == "well"
    assert room.outcomes == [("style0", 1, "timeout"), ("style1", 1, "ok")]
    assert fallback.asked[0] < 0.5


async def test_an_adapter_that_keeps_no_time_is_stopped_at_the_deadline(ask) -> None:
    """Whoever wrote it, the turn has an end."""
    room = Room(Peer(HANG))
    with pytest.raises(EngineTimeout):
        await ask(room, 0.05)
    assert room.outcomes == [("style0", 1, "timeout")]


async def test_a_dead_primary_costs_one_turn(ask) -> None:
    """After its last try it is skipped; nobody waits for it again until it is proven."""
    primary = Peer(BUSY, BUSY, BUSY, "back")
    room = Room(primary, Peer("of the fallback"))
    for _ in range(5):
        assert await ask(room) == "of the fallback"
    assert len(primary.asked) == 3
    room.backends[0].breaker.close()
    assert await ask(room) == "back"


async def test_where_all_are_skipped_all_are_asked(ask) -> None:
    """There is nobody else; and one that answers is skipped no more."""
    room = Room(Peer(BUSY, BUSY, BUSY, "back"), Peer(BUSY))
    with pytest.raises(EngineUnavailable):
        await ask(room)
    assert [each.breaker.is_open for each in room.backends] == [True, True]
    assert await ask(room) == "back"
    assert [each.breaker.is_open for each in room.backends] == [False, True]


async def test_one_backend_alone_is_never_skipped(ask) -> None:
    """Every request asks it anew."""
    peer = Peer(BUSY, BUSY, BUSY, "back")
    room = Room(peer)
    with pytest.raises(EngineUnavailable):
        await ask(room)
    assert await ask(room) == "back"


async def test_a_stream_that_fails_after_its_first_part_is_final_and_skips_the_backend() -> None:
    """What was handed on is kept, nothing switches, the failure is raised; the next turn asks the fallback."""
    room = Room(Peer("a!"), Peer("of the fallback"))
    stream = room.stream()
    assert await anext(stream) == "a"
    with pytest.raises(EngineTimeout):
        await anext(stream)
    assert room.outcomes == [("style0", 1, "timeout")]
    assert await room.text() == "of the fallback"


async def test_a_stream_without_parts_is_no_failure() -> None:
    """A stream may be empty: whether that is a fault its request says."""
    assert await Room(Peer("")).text() == ""


async def test_closing_a_stream_closes_its_request() -> None:
    """A reader that leaves in the middle ends the request, told as cancelled; nothing is skipped for that."""
    peer = Peer("ab")
    room = Room(peer)
    stream = room.stream()
    assert await anext(stream) == "a"
    await stream.aclose()
    assert (peer.closed, room.outcomes) == (1, [("style0", 1, "cancelled")])
    assert not room.backends[0].breaker.is_open


async def test_a_cancelled_caller_asks_nobody_else(ask) -> None:
    """A barge-in is no failure: neither a try nor the fallback follows."""
    primary, fallback = Peer(HANG), Peer("never asked")
    room = Room(primary, fallback)
    asked = asyncio.create_task(ask(room))
    await primary.hangs.wait()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert (room.outcomes, fallback.asked) == ([("style0", 1, "cancelled")], [])


async def test_a_skipped_backend_is_probed_until_it_is_back() -> None:
    """Waits grow between probes; the first that succeeds closes the breaker, and it can open again."""
    breaker, outcomes = Breaker(), iter([BUSY, REFUSED, None, None])
    probed = asyncio.Event()

    async def probe() -> None:
        outcome = next(outcomes)
        if isinstance(outcome, EngineError):
            raise outcome
        probed.set()

    task = asyncio.create_task(keep_probing(breaker, probe, ProbeRules(0.001, 0.002)))
    for _ in range(2):
        breaker.open()
        await probed.wait()
        probed.clear()
        await asyncio.sleep(0)
        assert not breaker.is_open
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_time_that_the_reader_takes_is_not_the_engines() -> None:
    """A reader that holds a part for a minute (audio that plays) leaves the deadline where it was."""
    now = 100.0
    deadline = Deadline(10, lambda: now)

    async def parts() -> AsyncGenerator[float]:
        nonlocal now
        for _ in range(3):
            now += 2
            yield deadline.left()

    left = []
    async for part in unhurried(parts(), deadline):
        left.append(part)
        now += 60
    assert left == [8, 6, 4]
