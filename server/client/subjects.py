"""The subjects of task 2 that a server has."""

from __future__ import annotations

import httpx
import msgspec

from server.client.errors import NoSubject, ServerUnreachable
from server.client.seat import Seat


class Subject(msgspec.Struct, frozen=True):
    """A subject: what the candidate has to obtain, as the server tells it."""

    id: str
    titre: str
    consigne: str


def first_subject(seat: Seat, *, timeout_s: float = 10.0) -> Subject:
    """Return the first subject of task 2 at ``seat``. Raises :class:`NoSubject` and :class:`ServerUnreachable`."""
    answer = _ask(seat, timeout_s)
    if answer.status_code != httpx.codes.OK:
        raise NoSubject(f"the server answered {answer.status_code} to GET /sujets, expected 200")
    try:
        subjects = msgspec.json.decode(answer.content, type=list[Subject])
    except msgspec.DecodeError as fault:
        raise NoSubject(f"the server's list of subjects cannot be read: {fault}") from fault
    if not subjects:
        raise NoSubject("the server has no subject of mode EO, task 2")
    return subjects[0]


def _ask(seat: Seat, timeout_s: float) -> httpx.Response:
    try:
        return httpx.get(
            f"{seat.address.web}/sujets",
            params={"mode": "EO", "tache": "2"},
            headers={"Authorization": f"Bearer {seat.token}"},
            timeout=timeout_s,
            trust_env=not seat.address.is_local,
        )
    except (httpx.HTTPError, httpx.InvalidURL) as fault:
        raise ServerUnreachable(f"no server at {seat.address.web}: {fault}") from fault
