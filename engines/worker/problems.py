"""Errors as OpenAI's API gives them: ``{"error": {"message", "type", "param", "code"}}``."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse


class Problem(Exception):
    """A request that cannot be served as asked. ``message`` is for the caller and never holds text or audio.

    ``status`` is the HTTP status, ``code`` a stable word for the fault, ``param`` the field at fault.
    """

    def __init__(
        self, status: int, message: str, *, code: str, param: str | None = None, retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.retry_after_s = retry_after_s

    def body(self) -> dict[str, Any]:
        """Return the error's JSON body."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        if self.status == 429:
            kind = "rate_limit_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> JSONResponse:
        """Return the error as a response, ``Retry-After`` included."""
        headers = {"Retry-After": str(self.retry_after_s)} if self.retry_after_s is not None else None
        return JSONResponse(self.body(), status_code=self.status, headers=headers)


async def answer_problem(request: Request, error: Exception) -> JSONResponse:
    """Turn a :class:`Problem` into its response (a Starlette exception handler)."""
    del request
    if not isinstance(error, Problem):
        raise error
    return error.response()


async def answer_http_error(request: Request, error: Exception) -> JSONResponse:
    """Turn Starlette's own 400, 404 and 405 into OpenAI's shape."""
    status = getattr(error, "status_code", 500)
    detail = getattr(error, "detail", "internal error")
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "bad_request")
    return Problem(status, f"{request.method} {request.url.path}: {detail}", code=code).response()


def bad_request(message: str, *, param: str | None, code: str = "invalid_value") -> Problem:
    """Return a 400 that names the field at fault, where there is one."""
    return Problem(400, message, code=code, param=param)


def no_such_model(asked: str, known: str | None) -> Problem:
    """Return the 404 for a model that this worker does not hold; ``known`` is the one that it does."""
    here = f"this worker has {known!r}" if known else "this worker has none of this kind"
    return Problem(404, f"The model {asked!r} does not exist: {here}.", code="model_not_found", param="model")
