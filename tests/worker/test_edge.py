"""What leaves the application when it fails."""

from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from engines.worker.edge import Broken, Edge
from engines.worker.metrics import Metrics

SECRET = "what the candidate said"


async def fails(request: Request) -> StreamingResponse:
    raise ValueError(SECRET)


async def breaks_off(request: Request) -> StreamingResponse:
    async def parts() -> AsyncIterator[bytes]:
        yield b"one"
        raise ValueError(SECRET)

    return StreamingResponse(parts())


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/fails", fails), Route("/breaks", breaks_off)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Edge, metrics=Metrics(()), idle_s=30)]))


def test_an_unforeseen_failure_is_a_500_without_content(client: TestClient) -> None:
    """Neither the answer nor the log repeats the message, which may hold text; the log names kind and place."""
    with capture_logs() as logs:
        answer = client.get("/fails")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert logs[0]["error"] == "ValueError"
    assert "test_edge.py:" in logs[0]["place"]
    assert SECRET not in answer.text + str(logs)


def test_an_answer_that_breaks_off_is_not_ended_as_if_it_were_whole(client: TestClient) -> None:
    """The server is told, so that it closes the connection; what it is told holds nothing."""
    with capture_logs() as logs, pytest.raises(Broken) as broken:
        client.get("/breaks")
    assert SECRET not in str(broken.value) + str(logs)
