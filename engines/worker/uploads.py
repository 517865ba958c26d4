"""The multipart form of an upload, within its limit."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.types import Message

from engines.worker.problems import Problem, bad_request

_FORM_BYTES = 65_536
"""Room for what surrounds the file: boundaries, headers, the other fields."""


@asynccontextmanager
async def form(request: Request, max_bytes: int) -> AsyncIterator[FormData]:
    """Give the request's form; raises :class:`Problem` 413 as soon as more than ``max_bytes`` have come in."""
    limit = max_bytes + _FORM_BYTES
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_large(max_bytes)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise bad_request("The request must be multipart/form-data with a 'file'.", param="file")
    counted = Request(request.scope, _Counted(request, limit, max_bytes))
    async with counted.form(max_files=1, max_fields=32) as fields:
        yield fields


def file(fields: FormData) -> BinaryIO:
    """Return the uploaded file, which lies on the disk beyond 1 MB, for :func:`in_memory` while the form is open.

    Raises :class:`Problem` 400 when the field ``file`` is missing or no file.
    """
    upload = fields.get("file")
    if not isinstance(upload, UploadFile):
        raise bad_request("The field 'file' is missing.", param="file", code="missing_field")
    return upload.file


def in_memory(upload: BinaryIO) -> BinaryIO:
    """Return the whole of ``upload``, which a thread may read after the form was closed.

    Called by a lane's thread, so that no more files are in memory than the lane has places, however many come in.
    """
    return io.BytesIO(upload.read())


class _Counted:
    def __init__(self, request: Request, limit: int, max_bytes: int) -> None:
        self._request = request
        self._left = limit
        self._max_bytes = max_bytes

    async def __call__(self) -> Message:
        message = await self._request.receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _too_large(self._max_bytes)
        return message


def _too_large(max_bytes: int) -> Problem:
    return Problem(413, f"'file' is larger than {max_bytes} bytes.", code="file_too_large", param="file")
