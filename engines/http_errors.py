"""What an HTTP exchange that failed means: one function from httpx's faults and status codes to ours."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import httpx
from httpx_sse import SSEError

from engines.errors import (
    EngineError,
    EngineFault,
    EngineMisconfigured,
    EngineRefused,
    EngineTimeout,
    EngineTruncated,
    EngineUnavailable,
)

_TRANSIENT = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
_DELAY = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")
_IDENTIFIER = re.compile(r"[A-Za-z][\w.-]{0,63}")


class EngineAbsent(EngineUnavailable):
    """Nothing listens at the address, or it says that it is not ready (503): most often, it is being started again."""


class EngineBadRequest(EngineRefused):
    """The request was not understood: 400 or 422. Without what is new in it, it may be."""


@contextmanager
def named_faults(engine: str) -> Iterator[None]:
    """Raise the block's HTTP faults and timeouts as :class:`engines.errors.EngineError`."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, SSEError, TimeoutError) as error:
        raise engine_error(engine, error) from error


def engine_error(engine: str, cause: Exception | httpx.Response) -> EngineError:
    """Return the error that ``cause``, an exception of httpx or an answer of another status than 2xx, stands for."""
    match cause:
        case httpx.Response():
            return status_error(engine, cause.status_code, _told(cause), _retry_after_s(cause))
        case httpx.ConnectError() if _nothing_listens(cause):
            return EngineAbsent(engine, "expected a connection, it was refused")
        case httpx.TimeoutException() | TimeoutError():
            return EngineTimeout(engine, "expected the next part of the answer, the time was up")
        case httpx.RemoteProtocolError():
            return EngineTruncated(engine, "expected a whole answer, the connection was closed within it")
        case httpx.UnsupportedProtocol() | httpx.LocalProtocolError() | httpx.InvalidURL():
            return EngineMisconfigured(engine, "expected an http or https address that can be asked")
        case httpx.DecodingError() | SSEError():
            return EngineFault(engine, "expected an answer in the form that was asked for, got another")
        case _:
            return EngineUnavailable(engine, f"expected an answer, the connection failed ({type(cause).__name__})")


def status_error(engine: str, status: int, told: str = "", retry_after_s: float | None = None) -> EngineError:
    """Return the error that an HTTP status stands for. ``told`` is the engine's own word for it, an identifier."""
    message = f"expected status 200, got {status}" + (f" ({told})" if told else "")
    if status == HTTPStatus.SERVICE_UNAVAILABLE and retry_after_s is None:
        return EngineAbsent(engine, message)
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
        return EngineBadRequest(engine, message)
    if status in _TRANSIENT or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return EngineUnavailable(engine, message, retry_after_s=retry_after_s)
    return EngineRefused(engine, message)


def identifier(found: object) -> str:
    """Return ``found`` if it is a short identifier, else nothing: free text may quote a prompt or a key."""
    return found if isinstance(found, str) and _IDENTIFIER.fullmatch(found) else ""


def _told(response: httpx.Response) -> str:
    """Return the error's own word from a body that has been read: OpenAI's code or type, Google's status."""
    error = _error_in(response)
    return identifier(error.get("code")) or identifier(error.get("type")) or identifier(error.get("status"))


def _error_in(response: httpx.Response) -> dict[str, Any]:
    """Return the error object of a body that has been read, or an empty one."""
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError, httpx.ResponseNotRead):
        return {}
    return error if isinstance(error, dict) else {}


def _retry_after_s(response: httpx.Response) -> float | None:
    """Return ``Retry-After``, seconds or a date, as seconds from now; ``None`` when it is missing or senseless.

    Google tells it in the body instead, as the ``retryDelay`` of a ``RetryInfo``.
    """
    value = response.headers.get("retry-after", "").strip() or _retry_delay(response)
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _retry_delay(response: httpx.Response) -> str:
    """Return the whole seconds of Google's ``retryDelay`` (``"34.07s"``), rounded up, or nothing."""
    details = _error_in(response).get("details")
    delays = [each.get("retryDelay") for each in details if isinstance(each, dict)] if isinstance(details, list) else []
    found = next((match for each in delays if (match := _DELAY.fullmatch(str(each)))), None)
    return str(math.ceil(float(found[1]))) if found else ""


def _nothing_listens(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError | FileNotFoundError):  # the latter: no Unix socket at the path
            return True
        cause = cause.__cause__ or cause.__context__
    return False
