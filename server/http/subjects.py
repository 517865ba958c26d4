"""``/sujets``: what a candidate of task 2 may choose from. Open to all; what the examiner alone knows is left out."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from server.http.queries import path_id, whole_number
from server.http.services import Services
from server.store.records import Subject

LANGUAGES = ("fr", "en")


def subject_routes(services: Services) -> list[Route]:
    """Return the routes of the subjects."""

    async def list_subjects(request: Request) -> JSONResponse:
        langue = request.query_params.get("langue", services.settings.language)
        if langue not in LANGUAGES:
            raise HTTPException(HTTPStatus.BAD_REQUEST, "langue: expected fr or en")
        mode = request.query_params.get("mode", "EO")
        tache = whole_number(request, "tache", 2, least=1, most=3)
        found = await services.store.subjects.list(mode=mode, tache=tache, langue=langue)
        return JSONResponse([_shown(subject) for subject in found])

    async def one_subject(request: Request) -> JSONResponse:
        subject = await services.store.subjects.get(path_id(request))
        if subject is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "there is nothing of that id")
        return JSONResponse(_shown(subject))

    return [Route("/sujets", list_subjects), Route("/sujets/{id}", one_subject)]


def _shown(subject: Subject) -> dict[str, object]:
    """A subject as the candidate reads it: ``contexte`` holds the answers to the candidate's questions."""
    return {
        "id": str(subject.id),
        "mode": subject.mode,
        "tache": subject.tache,
        "titre": subject.titre,
        "role": subject.role,
        "consigne": subject.consigne,
        "langue": subject.langue,
    }
