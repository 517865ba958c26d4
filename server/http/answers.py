"""Errors as JSON: ``{"error": {"code": "NOT_FOUND", "message": "…"}}``."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.auth import AuthRequired
from server.store.errors import StoreError


def refusal(status: int, code: str, message: str) -> JSONResponse:
    """Return the answer that refuses a request."""
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


async def on_auth_required(request: Request, error: Exception) -> Response:
    """Answer a request whose token does not hold."""
    return refusal(HTTPStatus.UNAUTHORIZED, "AUTH_REQUIRED", str(error))


async def on_store_error(request: Request, error: Exception) -> Response:
    """Answer a request that the database could not serve; what went wrong there is not the caller's business."""
    return refusal(HTTPStatus.SERVICE_UNAVAILABLE, "STORE_UNAVAILABLE", "the database did not answer; try again")


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Answer what Starlette itself refuses (no such route, wrong method), and what a route refuses."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type alone
    return refusal(error.status_code, HTTPStatus(error.status_code).name, error.detail)


HANDLERS = {AuthRequired: on_auth_required, StoreError: on_store_error, HTTPException: on_http_exception}
