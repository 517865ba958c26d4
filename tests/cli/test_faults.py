"""How the command fails: one line, and a status that is not zero."""

import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Relance = Callable[..., Any]


def assert_one_line(outcome: Any, status: int, *words: str) -> None:
    assert outcome.status == status
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    for word in words:
        assert word in outcome.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sevre"], ["No such command", "sevre"]),
        (["serve", "--prot", "1"], ["No such option", "--prot"]),
        (["serve", "--port", "http"], ["--port"]),
        (["serve", "--port", "70000"], ["--port", "65535"]),
        (["token"], ["--sub"]),
        (["token", "--sub", "a", "--ttl", "0"], ["--ttl"]),
    ],
)
def test_wrong_usage_is_status_2(relance: Relance, arguments: list[str], words: list[str]) -> None:
    """Unknown commands, options and values: one line, status 2."""
    assert_one_line(relance(*arguments), 2, *words)


def test_a_port_in_use_is_told_at_once(relance: Relance) -> None:
    """The port is tried before anything is loaded or made."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert_one_line(relance("serve", "--port", str(port)), 1, f"port {port}", "in use", "--port")


@pytest.mark.parametrize(
    ("host", "word"),
    [("nowhere.invalid", "nowhere.invalid"), ("192.0.2.1", "Cannot assign requested address")],
)
def test_an_address_that_is_not_ours_is_told(relance: Relance, host: str, word: str) -> None:
    """An unknown name, and an address of another machine."""
    assert_one_line(relance("serve", "--host", host), 1, "cannot listen", word)


def test_a_wrong_setting_is_told(relance: Relance) -> None:
    """A settings error is a line with the variable's name."""
    assert_one_line(relance("serve", profile="de"), 1, "RELANCE_PROFILE", "'ci', 'fr' or 'fr-small'")


def test_every_wrong_setting_has_its_line(relance: Relance) -> None:
    """Two faults are two lines."""
    outcome = relance("token", "--sub", "a", port="x", profil="fr")
    assert outcome.status == 1
    assert [line.split(":")[:2] for line in outcome.err.splitlines()] == [
        ["error", " RELANCE_PROFIL"],
        ["error", " RELANCE_PORT"],
    ]


def test_a_data_directory_that_cannot_be_made_is_told(relance: Relance, tmp_path: Path) -> None:
    """A file where the directory should be."""
    (tmp_path / "file").write_text("")
    assert_one_line(relance("token", "--sub", "a", data_dir=str(tmp_path / "file" / "x")), 1, str(tmp_path / "file"))


def test_a_database_of_a_newer_release_is_told(relance: Relance, tmp_path: Path, models_dir: Path) -> None:
    """The server does not start on a database that it does not know."""
    with sqlite3.connect(tmp_path / "relance.sqlite3") as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")
    connection.close()
    outcome = relance("serve", "--port", "0", data_dir=str(tmp_path), profile="ci", models_dir=str(models_dir))
    assert outcome.status == 1
    assert "not one of this release" in outcome.err.splitlines()[-1]
    assert "Traceback" not in outcome.err


def test_a_token_cannot_be_made_for_another_issuer(relance: Relance) -> None:
    """With a key set configured there is no secret to sign with."""
    outcome = relance("token", "--sub", "a", jwt_algorithm="RS256", jwks_url="https://example.org/keys")
    assert_one_line(outcome, 1, "HS256", "RS256")


def test_no_command_shows_the_help(relance: Relance) -> None:
    """``relance`` alone names its commands."""
    outcome = relance()
    assert outcome.status == 2
    assert all(name in outcome.out + outcome.err for name in ("serve", "token", "exam", "models"))
    assert "error" not in outcome.err
