"""Where an exam is sat: a server, and a token that it accepts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from server.auth.issuing import NoSecret, issue
from server.client.address import ServerAddress, read_address
from server.client.errors import NoToken
from server.client.private_server import private_server
from server.settings import SettingsError, load

_SUB = "terminal"
_PLAN = "premium"
_TOKEN_LIFE_S = 3600


@dataclass(frozen=True, slots=True)
class Seat:
    """A server, and a token that it accepts."""

    address: ServerAddress
    token: str


def seat_at(url: str, token: str | None) -> Seat:
    """Return the seat at a running server; without ``token``, one is made with this machine's secret.

    Raises :class:`WrongAddress` and :class:`NoToken`.
    """
    return Seat(read_address(url), token or _issue())


@contextmanager
def private_seat(profile: str | None) -> Iterator[Seat]:
    """Run a server for one exam and give the seat at it; see :func:`private_server`. Raises :class:`ServerFailed`."""
    with private_server(profile) as server:
        yield Seat(server.address, _issue(jwt_algorithm="HS256", jwt_secret=server.secret))


def _issue(**given: str) -> str:
    try:
        return issue(load(**given), _SUB, _PLAN, _TOKEN_LIFE_S)
    except (SettingsError, NoSecret, OSError) as fault:
        raise NoToken(f"no token can be made on this machine, give one with --token: {fault}") from fault
