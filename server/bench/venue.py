"""Where exams are sat for a measurement: a private server with settings of the bench's own, or a running one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from server.auth.issuing import issue
from server.bench.processes import children, command_line
from server.client.address import ServerAddress
from server.client.private_server import SERVE, private_server
from server.client.seat import Seat, seat_at
from server.settings import load

PLAN = "premium"
TOKEN_LIFE_S = 6 * 3600


@dataclass(frozen=True, slots=True)
class Venue:
    """A server. ``secret`` signs its tokens, where it is ours; else ``token`` is the one that there is.

    ``pid`` is the server's process, where it is ours.
    """

    address: ServerAddress
    secret: str | None = None
    token: str = ""
    pid: int | None = None

    @property
    def is_own(self) -> bool:
        """Whether the server is the bench's own, with its settings."""
        return self.secret is not None

    def seat(self, name: str) -> Seat:
        """Return a seat for the candidate ``name``: each is a user of its own, at a server of ours."""
        if self.secret is None:
            return Seat(self.address, self.token)
        settings = load(jwt_algorithm="HS256", jwt_secret=self.secret)
        return Seat(self.address, issue(settings, name, PLAN, TOKEN_LIFE_S))


@contextmanager
def own_venue(profile: str | None, settings: Mapping[str, object], kept: Path) -> Iterator[Venue]:
    """Run a private server with ``settings`` (by their names) over the configured ones; ``kept`` outlives it.

    In ``kept`` lies the bank of spoken sentences, which takes half a minute to make. Raises
    :class:`server.client.errors.ServerFailed`.
    """
    given = {"data_dir": kept, **settings}
    variables = [f"RELANCE_{name.upper()}={value}" for name, value in given.items()]
    with private_server(profile, command=("env", *variables, *SERVE)) as server:
        yield Venue(server.address, secret=server.secret, pid=_pid_of(server.address))


def venue_at(url: str, token: str | None) -> Venue:
    """Return the running server at ``url``. Raises as :func:`server.client.seat.seat_at`."""
    seat = seat_at(url, token)
    return Venue(seat.address, token=seat.token)


def _pid_of(address: ServerAddress) -> int | None:
    port = str(urlsplit(address.web).port)
    ours = (pid for pid in children() if "server.cli.main" in command_line(pid) and port in command_line(pid))
    return next(ours, None)
