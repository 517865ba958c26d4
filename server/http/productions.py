"""``/productions``: the caller's own, never another's."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from server.auth import bearer_token
from server.http.queries import path_id, whole_number
from server.http.services import Services
from server.store.records import Production

MAX_PAGE = 100


def production_routes(services: Services) -> list[Route]:
    """Return the routes of the productions."""

    async def caller(request: Request) -> str:
        return (await services.authenticator.authenticate(bearer_token(request.headers))).sub

    async def list_productions(request: Request) -> JSONResponse:
        user = await caller(request)
        limit = whole_number(request, "limit", 20, least=1, most=MAX_PAGE)
        offset = whole_number(request, "offset", 0, least=0, most=10**8)
        found = await services.store.productions.of_user(user, limit=limit, offset=offset)
        return JSONResponse([_summary(production) for production in found])

    async def one_production(request: Request) -> JSONResponse:
        production = await services.store.productions.get(await caller(request), path_id(request))
        if production is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "there is nothing of that id")
        return JSONResponse(_whole(production))

    return [Route("/productions", list_productions), Route("/productions/{id}", one_production)]


def _summary(production: Production) -> dict[str, object]:
    return {
        "id": str(production.id),
        "tache": production.tache,
        "sujetId": production.sujet_id and str(production.sujet_id),
        "mode": production.mode,
        "langue": production.langue,
        "statut": production.statut,
        "score": production.score,
        "nclc": production.nclc,
        "durationMs": production.duration_ms,
        "createdAt": production.created_at.isoformat(),
    }


def _whole(production: Production) -> dict[str, object]:
    return _summary(production) | {
        "transcript": production.transcript,
        "rapport": production.rapport,
        "latency": production.latency,
    }
