"""Productions over a session's life, a crash included."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from server.store.errors import StoreError, WrongState
from server.store.store import Store

Story = Callable[[Store], Awaitable[None]]


def with_store(url: str, story: Story) -> None:
    async def told() -> None:
        async with Store(url) as store:
            await story(store)

    asyncio.run(told())


async def open_one(store: Store, user: str = "u1", instance: str = "here") -> UUID:
    return await store.productions.open(user_id=user, tache="EO_T1", sujet_id=None, langue="fr", instance=instance)


async def grow(store: Store, production: UUID, transcript: str = "Candidat : bonjour") -> None:
    await store.productions.grow(production, transcript=transcript, utterances=[], duration_ms=1000)


def test_what_may_not_be_done_is_refused_and_changes_nothing(url: str) -> None:
    """Each step has its states; the error names the step, what was expected, and what is."""

    async def story(store: Store) -> None:
        productions = store.productions
        with pytest.raises(WrongState, match="expected it to be open, it is None"):
            await grow(store, uuid4())
        production = await open_one(store)
        with pytest.raises(WrongState, match="expected it to be recorded, it is open"):
            await productions.evaluated(production, rapport={}, score=1, nclc=0)
        await productions.close(production)
        with pytest.raises(WrongState, match="it is recorded"):
            await grow(store, production, "more")
        await productions.evaluated(production, rapport={"a": 1}, score=12, nclc=8)
        for again in (productions.close(production), productions.failed(production)):
            with pytest.raises(WrongState, match="it is evaluated"):
                await again
        found = await productions.get("u1", production)
        assert found is not None
        assert (found.statut, found.transcript, found.score) == ("evaluated", "", 12)

    with_store(url, story)


def test_a_production_must_name_a_subject_that_is_there(url: str) -> None:
    """Foreign keys hold; the error does not show what was to be stored."""

    async def story(store: Store) -> None:
        with pytest.raises(StoreError, match="FOREIGN KEY") as caught:
            await store.productions.open(
                user_id="secret-user", tache="EO_T2_LIVE", sujet_id=uuid4(), langue="fr", instance="here"
            )
        assert "secret-user" not in str(caught.value)
        assert "secret-user" not in str(caught.value.__cause__)

    with_store(url, story)


def test_a_productions_life(url: str) -> None:
    """Open, grown, recorded, evaluated: each step is what is read back."""

    async def story(store: Store) -> None:
        before = datetime.now(UTC)
        production = await open_one(store)
        utterances = [{"text": "bonjour", "start_ms": 0, "confidence": 0.9}]
        await store.productions.grow(
            production, transcript="Candidat : bonjour — ça va", utterances=utterances, duration_ms=1234
        )
        await store.productions.close(production, latency={"stt": [120]})
        await store.productions.evaluated(production, rapport={"criteres": []}, score=0, nclc=0)
        found = await store.productions.get("u1", production)
        assert found is not None
        assert found.transcript == "Candidat : bonjour — ça va"
        assert (found.utterances, found.duration_ms, found.latency) == (utterances, 1234, {"stt": [120]})
        assert (found.rapport, found.score, found.nclc, found.mode) == ({"criteres": []}, 0, 0, "entrainement")
        assert before <= found.created_at <= found.updated_at <= datetime.now(UTC) + timedelta(seconds=1)

    with_store(url, story)


def test_what_failed_keeps_what_was_said(url: str) -> None:
    """A production without a report keeps its transcript, and waits no more."""

    async def story(store: Store) -> None:
        production = await open_one(store)
        await grow(store, production)
        await store.productions.failed(production)
        found = await store.productions.get("u1", production)
        assert found is not None
        assert (found.statut, found.transcript, found.rapport) == ("failed", "Candidat : bonjour", None)
        assert await store.productions.pending("here") == []

    with_store(url, story)


def test_a_users_productions_are_the_users_own(url: str) -> None:
    """Lists and look-ups never cross users; the newest comes first; pages do not overlap."""

    async def story(store: Store) -> None:
        mine = [await open_one(store) for _ in range(5)]
        others = await open_one(store, user="u2")
        pages = [await store.productions.of_user("u1", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
        assert [len(page) for page in pages] == [2, 2, 1, 0]
        assert [production.id for page in pages for production in page] == mine[::-1]
        assert await store.productions.get("u1", others) is None

    with_store(url, story)


def test_pending_is_what_this_instance_left(url: str) -> None:
    """Open and recorded productions of this instance, oldest first; finished ones and other instances' are not."""

    async def story(store: Store) -> None:
        left_open, recorded, done = [await open_one(store) for _ in range(3)]
        await open_one(store, instance="elsewhere")
        for production in (recorded, done):
            await store.productions.close(production)
        await store.productions.evaluated(done, rapport={}, score=1, nclc=0)
        assert [(p.id, p.statut) for p in await store.productions.pending("here")] == [
            (left_open, "open"),
            (recorded, "recorded"),
        ]

    with_store(url, story)


def test_many_sessions_grow_at_once(url: str) -> None:
    """Sessions that write at the same time, from two pools, all get their turn; nothing is lost or mixed."""

    async def session(store: Store, user: str) -> None:
        production = await open_one(store, user)
        for turn in range(10):
            await grow(store, production, f"{user} {turn}")

    async def story(store: Store) -> None:
        async with Store(url) as other, asyncio.TaskGroup() as sessions:
            for number in range(12):
                sessions.create_task(session((store, other)[number % 2], f"user {number}"))
        for number in range(12):
            (found,) = await store.productions.of_user(f"user {number}", limit=5)
            assert found.transcript == f"user {number} 9"

    with_store(url, story)


CRASHING = """
import asyncio, os, signal, sys
from server.store.store import Store
async def main():
    async with Store(sys.argv[1]) as store:
        p = await store.productions.open(user_id="u1", tache="EO_T1", sujet_id=None, langue="fr", instance="here")
        await store.productions.grow(p, transcript="Candidat : un\\nCandidat : deux", utterances=[], duration_ms=5)
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


def test_what_was_grown_survives_a_kill(url: str) -> None:
    """A server killed right after a turn was stored leaves that turn, and its successor finds it pending."""
    killed = subprocess.run([sys.executable, "-c", CRASHING, url], timeout=60, check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL

    async def story(store: Store) -> None:
        (found,) = await store.productions.pending("here")
        assert found.transcript == "Candidat : un\nCandidat : deux"

    with_store(url, story)
