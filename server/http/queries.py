"""Values in paths and queries, checked."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request


def whole_number(request: Request, name: str, default: int, *, least: int, most: int) -> int:
    """Return the query's ``name`` as a number from ``least`` to ``most``. Raises ``HTTPException`` 400."""
    given = request.query_params.get(name, str(default))
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else -1
    if not least <= number <= most:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"{name}: expected a number from {least} to {most}")
    return number


def path_id(request: Request) -> UUID:
    """Return the path's ``id``. What is no UUID names nothing: raises ``HTTPException`` 404."""
    try:
        return UUID(request.path_params["id"])
    except ValueError:
        raise HTTPException(HTTPStatus.NOT_FOUND, "there is nothing of that id") from None
