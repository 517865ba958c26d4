"""Tokens signed with HS256 and a shared secret."""

import asyncio
import base64
import json
import time
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.auth import Authenticator, AuthRequired, Identity
from server.auth.keys import SharedSecret

SECRET = "a secret of more than thirty-two bytes"


async def no_plan(sub: str) -> str | None:
    return None


def identify(token: str | None, plan_of: Any = no_plan) -> Identity:
    authenticator = Authenticator(
        SharedSecret(SECRET), plan_of, algorithm="HS256", audience="authenticated", leeway_s=10
    )
    return asyncio.run(authenticator.authenticate(token))


def claims(**changes: Any) -> dict[str, Any]:
    """Good claims with changes; ``None`` takes a claim away."""
    good = {"sub": "u1", "aud": "authenticated", "exp": time.time() + 3600}
    return {name: value for name, value in (good | changes).items() if value is not None}


def signed(secret: str = SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    return jwt.encode(claims(**changes), secret, algorithm=algorithm)


def unsigned(header: Any, payload: Any, signature: str = "") -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, payload))
    return ".".join([*parts, signature])


REFUSED = {
    "missing": None,
    "empty": "",
    "not a token": "hello",
    "two parts": "a.b",
    "not ASCII": "é.é.é",
    "too long": signed(pad="x" * 10_000),
    "header nested deep": base64.urlsafe_b64encode(b"[" * 5000).decode() + ".e30.e30",
    "header no object": unsigned([], claims()),
    "alg none": unsigned({"alg": "none", "typ": "JWT"}, claims()),
    "alg None in capitals": unsigned({"alg": "NONE"}, claims()),
    "no alg": unsigned({"typ": "JWT"}, claims()),
    "another algorithm with the same secret": signed(SECRET * 2, algorithm="HS512"),
    "another secret": signed(secret="another secret of thirty-two bytes and more"),
    "signature cut off": signed().rpartition(".")[0] + ".",
    "payload changed": ".".join(
        [signed().split(".")[0], unsigned({}, claims(sub="u2")).split(".")[1], signed().split(".")[2]]
    ),
    "wrong audience": signed(aud="anon"),
    "wrong audiences": signed(aud=["anon", "service_role"]),
    "no audience": signed(aud=None),
    "expired": signed(exp=time.time() - 30),
    "no expiry": signed(exp=None),
    "expiry that is no number": signed(exp="tomorrow"),
    "future nbf": signed(nbf=time.time() + 3600),
    "issued in the future": signed(iat=time.time() + 3600),
    "no sub": signed(sub=None),
    "empty sub": signed(sub=""),
    "endless sub": signed(sub="u" * 256),
}


@pytest.mark.parametrize("token", REFUSED.values(), ids=REFUSED.keys())
def test_a_token_that_does_not_hold_is_refused(token: str | None) -> None:
    """Each of these is refused in the one same way."""
    with pytest.raises(AuthRequired):
        identify(token)


def test_the_refusal_never_quotes_the_token() -> None:
    """What is said of a bad token holds nothing of it."""
    token = signed(aud="anon")
    with pytest.raises(AuthRequired) as caught:
        identify(token)
    assert not any(part in str(caught.value) for part in token.split("."))


@pytest.mark.parametrize(
    "changes",
    [{}, {"aud": ["other", "authenticated"]}, {"sub": "u" * 255}],
    ids=["plain", "audience in a list", "longest sub"],
)
def test_a_token_that_holds(changes: dict[str, Any]) -> None:
    """The audience may be one of several; the id may be as long as the store takes."""
    assert identify(signed(**changes)) == Identity(changes.get("sub", "u1"), None)


@pytest.mark.parametrize(("claim", "seconds"), [("exp", -5), ("nbf", 5), ("iat", 5)])
def test_clocks_may_differ_by_the_leeway(claim: str, seconds: int) -> None:
    """A token that has just expired, or that holds in a moment, holds."""
    assert identify(signed(**{claim: time.time() + seconds})).sub == "u1"


def test_the_issuer_grants_a_plan() -> None:
    """``app_metadata.plan`` is the issuer's to write."""
    assert identify(signed(app_metadata={"plan": "premium"})).plan == "premium"


@pytest.mark.parametrize(
    "changes",
    [
        {"user_metadata": {"plan": "premium"}},
        {"plan": "premium"},
        {"app_metadata": "premium"},
        {"app_metadata": {"plan": ["premium"]}},
        {"app_metadata": {"plan": ""}},
    ],
    ids=["user_metadata", "top level", "no object", "no text", "empty"],
)
def test_nothing_else_grants_a_plan(changes: dict[str, Any]) -> None:
    """``user_metadata`` is the user's to write: it grants nothing, nor does any other place."""
    assert not identify(signed(**changes)).plan


def test_the_servers_own_record_of_the_plan_wins() -> None:
    """A plan in ``profiles`` counts before the token's."""

    async def basic(sub: str) -> str | None:
        return {"u1": "basic"}.get(sub)

    assert identify(signed(app_metadata={"plan": "premium"}), basic).plan == "basic"
    assert identify(signed(sub="u2", app_metadata={"plan": "premium"}), basic).plan == "premium"


@given(st.text() | st.lists(st.binary(max_size=60), min_size=3, max_size=3))
def test_arbitrary_tokens_are_refused_and_nothing_else(given_token: str | list[bytes]) -> None:
    """Whatever text comes as a token, the one error is the refusal."""
    if isinstance(given_token, list):
        given_token = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in given_token)
    with pytest.raises(AuthRequired):
        identify(given_token)
