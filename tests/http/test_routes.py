"""The plain routes: what they answer, and to whom."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from server.auth import issue
from server.http.application import application
from server.settings import Settings

Story = Callable[[httpx.AsyncClient, Any], Awaitable[None]]


@pytest.fixture
def tell(stand_in: Any, tmp_path: Path) -> Callable[..., None]:
    """Runs a story with a client of the application and its services."""

    def told(story: Story, **changes: Any) -> None:
        async def run() -> None:
            services = stand_in.StandIn(Settings(data_dir=tmp_path, **changes))
            app = application(services)
            client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")
            async with app.router.lifespan_context(app), client:
                await story(client, services)

        asyncio.run(run())

    return told


def bearer(services: Any, sub: str = "u1") -> dict[str, str]:
    return {"Authorization": f"Bearer {issue(services.settings, sub, None, 60)}"}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/nowhere", 404, "NOT_FOUND"),
        ("/sujets?tache=x", 400, "BAD_REQUEST"),
        ("/sujets?tache=4", 400, "BAD_REQUEST"),
        ("/sujets?tache=²", 400, "BAD_REQUEST"),
        ("/sujets?langue=de", 400, "BAD_REQUEST"),
        ("/sujets/7", 404, "NOT_FOUND"),
        (f"/sujets/{uuid4()}", 404, "NOT_FOUND"),
        ("/productions", 401, "AUTH_REQUIRED"),
        (f"/productions/{uuid4()}", 401, "AUTH_REQUIRED"),
    ],
)
def test_what_cannot_be_served_is_refused_in_json(tell: Any, path: str, status: int, code: str) -> None:
    """Every refusal has its status, and one JSON shape with a code and a message."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        answer = await client.get(path)
        assert answer.status_code == status
        assert answer.json()["error"]["code"] == code
        assert answer.json()["error"]["message"]

    tell(story)


def test_a_method_that_is_not_served_is_refused_in_json(tell: Any) -> None:
    """The routes are read-only."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        answer = await client.post("/sujets")
        assert (answer.status_code, answer.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")

    tell(story)


def test_productions_want_a_token_in_the_header(tell: Any) -> None:
    """Other schemes, bad tokens, and a token in the query do not count; the answer says which scheme does."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        token = bearer(services)["Authorization"].split()[1]
        for headers in ({}, {"Authorization": f"Basic {token}"}, {"Authorization": "Bearer x"}):
            answer = await client.get(f"/productions?token={token}", headers=headers)
            assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")

    tell(story)


def test_productions_are_the_callers_own(tell: Any) -> None:
    """The list and the whole show the caller's productions; another's is not found."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        productions = services.store.productions
        ids = {}
        for user in ("u1", "u2"):
            ids[user] = await productions.open(user_id=user, tache="EO_T1", sujet_id=None, langue="fr", instance="here")
        await productions.grow(ids["u1"], transcript="Candidat : oui", utterances=[], duration_ms=9)
        await productions.close(ids["u1"], latency={"stt": 1})
        await productions.evaluated(ids["u1"], rapport={"score": 12}, score=12, nclc=8)
        listed = (await client.get("/productions", headers=bearer(services))).json()
        assert [production["id"] for production in listed] == [str(ids["u1"])]
        assert "transcript" not in listed[0]
        whole = (await client.get(f"/productions/{ids['u1']}", headers=bearer(services))).json()
        assert whole.items() >= listed[0].items()
        assert (whole["transcript"], whole["rapport"], whole["latency"]) == (
            "Candidat : oui",
            {"score": 12},
            {"stt": 1},
        )
        answer = await client.get(f"/productions/{ids['u2']}", headers=bearer(services))
        assert answer.status_code == 404

    tell(story)


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=-1", "offset=-1", "offset=9999999999", "limit=1e2"])
def test_pages_have_bounds(tell: Any, query: str) -> None:
    """A page holds 1 to 100; what is out of bounds is refused."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        assert (await client.get(f"/productions?{query}", headers=bearer(services))).status_code == 400

    tell(story)


def test_subjects_are_those_of_the_profiles_language(tell: Any) -> None:
    """Without ``langue`` the profile decides; what only the examiner knows is not shown."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        listed = (await client.get("/sujets?mode=EO&tache=2")).json()
        assert len(listed) == 12
        assert {subject["langue"] for subject in listed} == {"en"}
        assert set(listed[0]) == {"id", "mode", "tache", "titre", "role", "consigne", "langue"}
        assert (await client.get(f"/sujets/{listed[0]['id']}")).json() == listed[0]
        french = (await client.get("/sujets?langue=fr")).json()
        assert {subject["langue"] for subject in french} == {"fr"}
        assert (await client.get("/sujets?mode=EE")).json() == []

    tell(story, profile="ci")


def test_a_database_that_fails_is_told_without_details(tell: Any, tmp_path: Path) -> None:
    """The caller learns that it may try again, and nothing of the database."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        async with services.store.productions._database.begin("break") as connection:
            await connection.exec_driver_sql("DROP TABLE productions")
        answer = await client.get("/productions", headers=bearer(services))
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "STORE_UNAVAILABLE"
        assert "productions" not in answer.text

    tell(story)


def test_up_is_not_ready(tell: Any) -> None:
    """``/healthz`` says that the process is up; ``/readyz`` is 503 until every engine is proven."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        assert (await client.get("/healthz")).status_code == 200
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (503, False)
        assert answer.json()["engines"]["llm"] == "loading"
        services.engines["llm"] = "ready"
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (200, True)

    tell(story)


def test_metrics_in_prometheus_format(tell: Any) -> None:
    """``/metrics`` shows what was counted."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        services.metrics.refused("t2", "AUTH_REQUIRED")
        answer = await client.get("/metrics")
        assert answer.headers["Content-Type"].startswith("text/plain; version=")
        assert 'relance_refused_total{reason="AUTH_REQUIRED",task="t2"} 1.0' in answer.text

    tell(story)


@pytest.mark.parametrize(
    ("allowed", "origin", "answered"),
    [
        ((), "https://a.org", None),
        (("https://a.org",), "https://a.org", "https://a.org"),
        (("https://a.org",), "https://b.org", None),
    ],
)
def test_pages_of_other_origins_read_only_when_allowed(
    tell: Any, allowed: tuple[str, ...], origin: str, answered: str | None
) -> None:
    """Cross-origin headers are given to allowed origins alone; none are allowed at first."""

    async def story(client: httpx.AsyncClient, services: Any) -> None:
        answer = await client.get("/sujets", headers={"Origin": origin})
        assert answer.headers.get("Access-Control-Allow-Origin") == answered

    tell(story, allowed_origins=allowed)
