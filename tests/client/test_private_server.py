from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from server.client.errors import ServerFailed
from server.client.private_server import private_server

STAND_IN = Path(__file__).with_name("stand_in_server.py")


def command(mode: str) -> list[str]:
    return [sys.executable, str(STAND_IN), mode]


def ask(web: str) -> dict:
    return httpx.get(f"{web}/", trust_env=False).json()


def ends(process: int, within_s: float) -> bool:
    """Whether the process, a descriptor of it, ends in time."""
    ended = bool(select.select([process], [], [], within_s)[0])
    os.close(process)
    return ended


def test_a_server_that_ends_at_once_says_why():
    """Its last line and its status become the message."""
    with (
        pytest.raises(ServerFailed, match=r"ended with status 1: .*model store is empty"),
        private_server("ci", command=command("dies")),
    ):
        pass


def test_a_server_that_is_never_ready_is_given_up():
    """After its patience the client says so; the server does not stay behind."""
    with (
        pytest.raises(ServerFailed, match="did not become ready in time"),
        private_server(None, command=command("never-ready"), ready_patience_s=0.5),
    ):
        pass


def test_it_has_a_place_of_its_own_and_is_stopped_afterwards():
    """Database, data and secret are private; the profile is the one asked for; nothing stays when the exam is over."""
    with private_server("ci", command=command("ready")) as server:
        answer = ask(server.address.web)
        process = os.pidfd_open(answer["pid"])
        given = answer["given"]
        place = Path(given["RELANCE_DATA_DIR"])
        assert place.is_dir()
        assert given["RELANCE_DATABASE_URL"] == f"sqlite+aiosqlite:///{place}/relance.sqlite3"
        assert given["RELANCE_PROFILE"] == "ci"
        assert given["RELANCE_JWT_SECRET"] == server.secret
        assert len(server.secret) >= 32
        assert answer["session"] == answer["pid"], "Ctrl-C at the terminal must not reach it"
    assert ends(process, 0)
    assert not place.exists()


def test_it_is_stopped_when_the_exam_fails():
    """An error in the exam is no way to leave a server running."""
    servers = []

    def failing_exam() -> None:
        with private_server(None, command=command("ready")) as server:
            servers.append(os.pidfd_open(ask(server.address.web)["pid"]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing_exam()
    assert ends(servers[0], 0)


def test_a_server_that_does_not_stop_is_killed():
    """Deaf to SIGTERM, it is killed once it had its time."""
    with private_server(None, command=command("stubborn"), stop_patience_s=0.1) as server:
        process = os.pidfd_open(ask(server.address.web)["pid"])
    assert ends(process, 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_does_not_outlive_a_client_that_is_killed(number, tmp_path):
    """Even when the client can do nothing any more, the server ends."""
    client = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, signal; from server.client.private_server import private_server\n"
            "with private_server(None, command=sys.argv[1:]) as server:\n"
            "    print(server.address.web, flush=True)\n"
            "    signal.pause()",
            *command("ready"),
        ],
        stdout=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        text=True,
    )
    with client:
        assert client.stdout is not None
        process = os.pidfd_open(ask(client.stdout.readline().strip())["pid"])
        client.send_signal(number)
    assert ends(process, 10)
