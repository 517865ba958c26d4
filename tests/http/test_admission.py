"""Places for sessions."""

import asyncio
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.admission import Admission, Full


def admission(sessions: int = 3, per_user: int = 1, t2: int = 3) -> Admission:
    return Admission(max_sessions=sessions, max_t2_sessions=t2, max_sessions_per_user=per_user)


def refusal(places: Admission, sub: str) -> str:
    with pytest.raises(Full) as caught, places.place(sub, "t1"):
        pass
    return caught.value.reason


def test_each_limit_has_its_reason() -> None:
    """Too many in all, too many of one user, and a server that stops are told apart."""
    places = admission(sessions=2)
    with places.place("a", "t1"):
        assert refusal(places, "a") == "user_sessions"
        with places.place("b", "t1"):
            assert refusal(places, "c") == "sessions"
            places.close()
            assert refusal(places, "c") == "closing"
    assert places.active == 0


def test_task_2_has_a_limit_of_its_own() -> None:
    """It takes more of the engines; task 1 may take the places that are left."""
    places = admission(sessions=3, t2=1)
    with places.place("a", "t2"):
        with pytest.raises(Full) as caught, places.place("b", "t2"):
            pass
        assert caught.value.reason == "t2_sessions"
        with places.place("b", "t1"), places.place("c", "t1"):
            assert refusal(places, "d") == "sessions"
    with places.place("b", "t2"):
        assert places.active == 1


def test_a_place_is_given_back_whatever_happened() -> None:
    """A session that fails frees its place; a refusal takes none."""
    places = admission()
    with pytest.raises(ZeroDivisionError), places.place("a", "t1"):
        raise ZeroDivisionError
    with places.place("a", "t1"):
        refusal(places, "a")
        assert places.active == 1
    assert places.active == 0


def test_emptied_waits_for_the_last_session() -> None:
    """``emptied`` returns when nobody is left, at once when nobody is there."""

    async def story() -> list[str]:
        places, order = admission(), []
        await places.emptied()

        async def wait() -> None:
            await places.emptied()
            order.append("empty")

        with ExitStack() as sessions:
            sessions.enter_context(places.place("a", "t1"))
            sessions.enter_context(places.place("b", "t1"))
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
            order.append("leaving")
        await waiting
        return order

    assert asyncio.run(story()) == ["leaving", "empty"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60))
def test_limits_hold_in_any_order(steps: list[tuple[str, bool]]) -> None:
    """Whoever comes and goes, the limits hold and no place is lost."""
    places = admission(sessions=4, per_user=2)
    held: dict[str, list[ExitStack]] = {"a": [], "b": [], "c": []}
    for sub, arrives in steps:
        total = sum(map(len, held.values()))
        if not arrives and held[sub]:
            held[sub].pop().close()
        elif arrives:
            session = ExitStack()
            try:
                session.enter_context(places.place(sub, "t1"))
            except Full:
                assert total == 4 or len(held[sub]) == 2
            else:
                held[sub].append(session)
        assert places.active == sum(map(len, held.values())) <= 4
        assert all(len(of_user) <= 2 for of_user in held.values())
