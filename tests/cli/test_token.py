"""``relance token``."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt

Relance = Callable[..., Any]


def test_the_token_is_all_of_standard_output(relance: Relance, tmp_path: Path) -> None:
    """One line, the token, signed with the secret that the server will find; nothing on standard error."""
    outcome = relance("token", "--plan", "premium", "--sub", "ana", "--ttl", "120", data_dir=str(tmp_path / "data"))
    assert (outcome.status, outcome.err) == (0, "")
    token, end, rest = outcome.out.partition("\n")
    assert (end, rest) == ("\n", "")
    secret = (tmp_path / "data" / "jwt_secret").read_text()
    claims = jwt.decode(token, secret, ["HS256"], audience="authenticated")
    assert (claims["sub"], claims["app_metadata"]) == ("ana", {"plan": "premium"})
    assert 60 < claims["exp"] - time.time() <= 120


def test_the_secret_stays_the_same(relance: Relance, tmp_path: Path) -> None:
    """A second token is signed with the first one's secret."""
    relance("token", "--sub", "ana", data_dir=str(tmp_path))
    first = (tmp_path / "jwt_secret").read_text()
    token = relance("token", "--sub", "ana", data_dir=str(tmp_path)).out.strip()
    assert jwt.decode(token, first, ["HS256"], audience="authenticated")["app_metadata"] == {}


def test_the_version_is_one_line(relance: Relance) -> None:
    """``relance --version`` names the program."""
    outcome = relance("--version")
    assert (outcome.status, outcome.err, outcome.out.count("\n")) == (0, "", 1)
    assert outcome.out.startswith("relance")
