"""``/healthz``, ``/readyz``, ``/metrics``: for whoever watches. Open to all; nothing of a candidate in them."""

from __future__ import annotations

from http import HTTPStatus

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from server.http.services import Services


def health_routes(services: Services) -> list[Route]:
    """Return the routes for those who watch."""

    async def healthz(request: Request) -> JSONResponse:
        return JSONResponse({"status": "up"})

    async def readyz(request: Request) -> JSONResponse:
        ready = services.ready
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"ready": ready, "engines": dict(services.readiness())}, status)

    async def metrics(request: Request) -> Response:
        return Response(services.metrics.exposition(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]
