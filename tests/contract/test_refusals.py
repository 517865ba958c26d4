"""Who may not enter: the handshake is accepted, then closed with the code and reason that clients switch on."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from typing import Any

import jwt
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

SECRET_OF_ANOTHER = "not-the-secret-of-this-server-but-long-enough"
PREMIUM = {"app_metadata": {"plan": "premium"}}


def forged(server: Any, *, secret: str | None = None, algorithm: str = "HS256", **claims: Any) -> str:
    """Return a token that this server would take, but for what is given; a claim of ``None`` is left out."""
    whole = {"sub": "forger", "aud": "authenticated", "exp": int(time.time()) + 600, **PREMIUM, **claims}
    kept = {name: value for name, value in whole.items() if value is not None}
    own = (server.settings.data_dir / "jwt_secret").read_text("ascii").strip()
    return jwt.encode(kept, "" if algorithm == "none" else secret or own, algorithm=algorithm)


BAD_TOKENS: dict[str, Callable[[Any], str]] = {
    "empty": lambda server: "",
    "no JWT": lambda server: "let-me-in",
    "three parts of nothing": lambda server: "e30.e30.e30",
    "kilobytes of nothing": lambda server: "e30." * 1_900,
    "longer than a token may be": lambda server: "e30." * 5_000,
    "wrongly signed": lambda server: forged(server, secret=SECRET_OF_ANOTHER),
    "alg none": lambda server: forged(server, algorithm="none"),
    "another algorithm": lambda server: forged(server, algorithm="HS512"),
    "expired": lambda server: forged(server, exp=int(time.time()) - 60),
    "without end": lambda server: forged(server, exp=None),
    "not valid yet": lambda server: forged(server, nbf=int(time.time()) + 600),
    "another audience": lambda server: forged(server, aud="anonymous"),
    "no audience": lambda server: forged(server, aud=None),
    "no subject": lambda server: forged(server, sub=None),
}

POOR_PLANS: dict[str, dict[str, Any]] = {
    "no plan": {"app_metadata": None},
    "another plan": {"app_metadata": {"plan": "free"}},
    "a plan that the user gave themselves": {"app_metadata": {}, "user_metadata": {"plan": "premium"}},
    "plans in a list": {"app_metadata": {"plan": ["premium"]}},
}


@pytest.mark.parametrize("task", ["t1", "t2"])
@pytest.mark.parametrize("what", BAD_TOKENS)
async def test_a_token_that_does_not_hold_closes_with_4001(sit, speech_server, task, what):
    """Missing, malformed, expired, wrongly signed, for another audience: 4001 AUTH_REQUIRED, and not one frame."""
    async with sit(speech_server, task, token=BAD_TOKENS[what](speech_server)) as candidate:
        account = await candidate.over()
    assert account.close == (4001, "AUTH_REQUIRED")
    assert account.heard == ()


@pytest.mark.parametrize("route", ["/t1/live", "/t2/live"])
async def test_no_token_at_all_closes_with_4001(client, speech_server, route):
    """An address without any query is answered in the same way."""
    async with client.sit(f"ws://{speech_server.address}{route}") as candidate:
        assert (await candidate.over()).close == (4001, "AUTH_REQUIRED")


@pytest.mark.parametrize("task", ["t1", "t2"])
@pytest.mark.parametrize("what", POOR_PLANS)
async def test_a_plan_without_the_permission_closes_with_4003(sit, speech_server, task, what):
    """The plan comes from the issuer alone: what users write about themselves grants nothing."""
    token = forged(speech_server, **POOR_PLANS[what])
    async with sit(speech_server, task, token=token) as candidate:
        assert (await candidate.over()).close == (4003, "PLAN_INSUFFICIENT")


async def test_a_premium_token_with_its_audience_in_a_list_enters(sit, speech_server):
    """The same forger's token, all in order, is let in: what refuses the others is what is wrong with them."""
    async with sit(speech_server, "t1", token=forged(speech_server, aud=["other", "authenticated"])) as candidate:
        await candidate.say("end")
        assert (await candidate.over()).close == (1000, "")


@pytest.fixture(scope="module")
def other_subjects(speech_server: Any) -> list[str]:
    """Subjects that are none of task 2's: another task, another mode, and one that was withdrawn."""
    rows = [(uuid.uuid4().hex, "EO", 3, True), (uuid.uuid4().hex, "EE", 2, True), (uuid.uuid4().hex, "EO", 2, False)]
    insert = (
        "INSERT INTO sujets (id, mode, tache, titre, role, contexte, consigne, langue, actif) "
        "VALUES (?, ?, ?, 'A title', 'a clerk', 'A shop.', 'Ask.', 'en', ?)"
    )
    with closing(sqlite3.connect(speech_server.settings.data_dir / "relance.sqlite3")) as database, database:
        database.executemany(insert, rows)
    return [str(uuid.UUID(row[0])) for row in rows]


@pytest.mark.parametrize("sujet", ["", "flat", "8e2b4d7a-1f39", str(uuid.UUID(int=7)), "\x00'; --"])
async def test_a_subject_that_is_not_there_closes_with_4004(sit, speech_server, sujet):
    """Empty, no UUID, or a UUID of nothing."""
    async with sit(speech_server, "t2", sujet=sujet) as candidate:
        account = await candidate.over()
    assert account.close == (4004, "SUJET_NOT_FOUND")
    assert account.heard == ()


@pytest.mark.parametrize("which", [0, 1, 2])
async def test_a_subject_of_another_task_closes_with_4004(sit, speech_server, other_subjects, which):
    """Only subjects of mode EO and task 2 that are offered."""
    async with sit(speech_server, "t2", sujet=other_subjects[which]) as candidate:
        assert (await candidate.over()).close == (4004, "SUJET_NOT_FOUND")


async def test_no_subject_at_all_closes_with_4004(client, speech_server):
    """The parameter is missing."""
    async with client.sit(speech_server.ws("/t2/live", token=speech_server.token("no-subject"))) as candidate:
        assert (await candidate.over()).close == (4004, "SUJET_NOT_FOUND")


@pytest.mark.parametrize(("task", "reason"), [("t1", "GEMINI_CONFIG"), ("t2", "GEMINI_UNAVAILABLE")])
async def test_a_pipeline_that_cannot_run_closes_with_4005(sit, unfit_server, task, reason):
    """The server is up, an engine is not configured: each task says so by its own name."""
    async with sit(unfit_server, task) as candidate:
        account = await candidate.over()
    assert account.close == (4005, reason)
    assert account.heard == ()


@pytest.mark.parametrize("task", ["t1", "t2"])
async def test_a_stranger_is_not_told_that_the_pipeline_cannot_run(sit, unfit_server, task):
    """The token is looked at first."""
    async with sit(unfit_server, task, token="let-me-in") as candidate:
        assert (await candidate.over()).close == (4001, "AUTH_REQUIRED")


async def test_a_user_has_one_session_at_once(sit, speech_server, in_session):
    """The second is closed with 1013; the first goes on, and once it is over there is a place again."""
    async with sit(speech_server, "t1", sub="twice") as first:
        await in_session(speech_server, 1)
        async with sit(speech_server, "t2", sub="twice") as second:
            assert (await second.over()).close == (1013, "TRY_AGAIN_LATER")
        await first.say("end")
        assert (await first.over()).close == (1000, "")
    async with sit(speech_server, "t1", sub="twice") as third:
        await third.say("end")
        assert (await third.over()).close == (1000, "")


async def test_a_full_server_says_to_try_again_later(sit, speech_server, in_session):
    """As many users as there are places; the next is closed with 1013, of either task."""
    async with (
        sit(speech_server, "t1") as first,
        sit(speech_server, "t2"),
        sit(speech_server, "t1"),
        sit(speech_server, "t2"),
        sit(speech_server, "t1"),
    ):
        await in_session(speech_server, 5)
        for task in ("t1", "t2"):
            async with sit(speech_server, task) as late:
                assert (await late.over()).close == (1013, "TRY_AGAIN_LATER")
        await first.say("end")
        assert (await first.over()).close == (1000, "")


async def test_a_token_is_taken_from_the_query_the_header_or_the_subprotocols(client, speech_server):
    """Three ways in. Of the subprotocols the word ``bearer`` is echoed, never the token."""
    token = speech_server.token("three-ways")
    address = f"ws://{speech_server.address}/t1/live"
    ways = (
        (f"{address}?token={token}", {}, None),
        (address, {"additional_headers": {"Authorization": f"Bearer {token}"}}, None),
        (address, {"subprotocols": ["bearer", token]}, "bearer"),
    )
    for url, handshake, echoed in ways:
        async with client.sit(url, **handshake) as candidate:
            assert candidate.socket.subprotocol == echoed
            await candidate.say("end")
            account = await candidate.over()
        assert account.kinds == ["error"]
        assert account.close == (1000, "")


async def test_another_route_is_no_exam(speech_server):
    """There is no third task: the handshake itself is refused."""
    with pytest.raises(InvalidStatus):
        await connect(f"ws://{speech_server.address}/t3/live", proxy=None)
