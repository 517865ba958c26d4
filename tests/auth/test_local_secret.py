"""The server's own secret, and the tokens made with it."""

import asyncio
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import jwt
import pytest

from server.auth import Authenticator, Identity, NoSecret, issue
from server.auth.local_secret import signing_secret
from server.settings import Settings


async def no_plan(sub: str) -> str | None:
    return None


def identify(settings: Settings, token: str) -> Identity:
    async def checked() -> Identity:
        async with httpx.AsyncClient() as client:
            return await Authenticator.of(settings, no_plan, client).authenticate(token)

    return asyncio.run(checked())


def test_an_issued_token_holds_at_the_same_server(tmp_path: Path) -> None:
    """What ``issue`` makes, the server takes, with its plan."""
    settings = Settings(data_dir=tmp_path)
    assert identify(settings, issue(settings, "ana", "premium", 60)) == Identity("ana", "premium")
    assert identify(settings, issue(settings, "ana", None, 60)) == Identity("ana", None)


def test_the_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """The file is made at first need, mode 0600, and kept."""
    settings = Settings(data_dir=tmp_path / "deep" / "down")
    first = signing_secret(settings)
    (file,) = settings.data_dir.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert signing_secret(settings) == first == file.read_text()
    assert len(first) >= 32


def test_makers_at_the_same_time_agree(tmp_path: Path) -> None:
    """Server and command may make it at once: there is one secret, and nothing else is left behind."""
    settings = Settings(data_dir=tmp_path)
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(signing_secret, [settings] * 32))) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["jwt_secret"]


def test_a_configured_secret_is_used_and_none_is_made(tmp_path: Path) -> None:
    """With ``jwt_secret`` set, no file appears."""
    settings = Settings(data_dir=tmp_path, jwt_secret="s" * 32)
    assert jwt.decode(issue(settings, "ana", None, 60), "s" * 32, ["HS256"], audience="authenticated")["sub"] == "ana"
    assert list(tmp_path.iterdir()) == []


def test_tokens_of_another_issuer_cannot_be_made_here() -> None:
    """With public keys alone there is nothing to sign with."""
    settings = Settings(jwt_algorithm="RS256", jwks_url="http://127.0.0.1:1/keys")
    with pytest.raises(NoSecret):
        issue(settings, "ana", None, 60)


def test_another_machines_token_is_refused(tmp_path: Path) -> None:
    """Each data directory has a secret of its own."""
    from server.auth import AuthRequired

    token = issue(Settings(data_dir=tmp_path / "a"), "ana", "premium", 60)
    with pytest.raises(AuthRequired):
        identify(Settings(data_dir=tmp_path / "b"), token)
