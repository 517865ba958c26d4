"""Tokens signed with a key of a published set."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import jwt
import pytest

from server.auth import Authenticator, AuthRequired, Identity
from server.auth.keys import FAILURE_PAUSE_S, LIFETIME_S, UNKNOWN_KEY_PAUSE_S, KeySet

Identify = Callable[[str], Awaitable[Identity]]


class Clock:
    """Monotonic seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def no_plan(sub: str) -> str | None:
    return None


def with_keys(url: str, story: Callable[[Identify, Clock], Awaitable[None]], algorithm: str = "RS256") -> None:
    """Run ``story`` with an authenticator that fetches its keys from ``url``."""

    async def told() -> None:
        clock = Clock()
        async with httpx.AsyncClient(trust_env=False) as client:
            keys = KeySet(url, algorithm, client, clock)
            authenticator = Authenticator(keys, no_plan, algorithm=algorithm, audience="authenticated", leeway_s=10)
            await story(authenticator.authenticate, clock)

    asyncio.run(told())


def token(key: Any, kid: str | None, algorithm: str = "RS256") -> str:
    claims = {"sub": "u1", "aud": "authenticated", "exp": time.time() + 3600}
    return jwt.encode(claims, key, algorithm=algorithm, headers={} if kid is None else {"kid": kid})


async def refused(identify: Identify, given: str) -> bool:
    try:
        await identify(given)
    except AuthRequired:
        return True
    return False


def test_a_secret_made_of_the_public_key_is_refused(key_server: Any, rsa_key: Any, rsa_jwk: Any) -> None:
    """HS256 with the public key as its secret is refused: the algorithm is pinned. No key is even fetched for it."""
    key_server.publish(rsa_jwk)
    secret = jwt.utils.base64url_decode(rsa_jwk["n"])

    async def story(identify: Identify, clock: Clock) -> None:
        assert await refused(identify, token(secret, "rsa-1", "HS256"))
        assert key_server.asked == 0
        assert (await identify(token(rsa_key, "rsa-1"))).sub == "u1"

    with_keys(key_server.url, story)


def test_a_key_on_a_curve(key_server: Any, ec_key: Any, ec_jwk: Any, rsa_jwk: Any) -> None:
    """ES256 takes the set's keys on that curve, and passes over the others."""
    key_server.publish(rsa_jwk, ec_jwk)

    async def story(identify: Identify, clock: Clock) -> None:
        assert (await identify(token(ec_key, "ec-1", "ES256"))).sub == "u1"
        assert await refused(identify, token(ec_key, "rsa-1", "ES256"))

    with_keys(key_server.url, story, "ES256")


@pytest.mark.parametrize("change", [{"use": "enc"}, {"alg": "RS512"}, {"kty": "oct", "k": "AAAA"}, {"n": "?"}])
def test_keys_that_are_for_something_else_check_nothing(
    key_server: Any, rsa_key: Any, rsa_jwk: Any, change: dict[str, str]
) -> None:
    """A key for encryption, of another algorithm or kind, or broken, is passed over."""
    key_server.publish(rsa_jwk | change)

    async def story(identify: Identify, clock: Clock) -> None:
        assert await refused(identify, token(rsa_key, "rsa-1"))

    with_keys(key_server.url, story)


def test_a_token_that_names_no_key_is_refused(key_server: Any, rsa_key: Any, rsa_jwk: Any) -> None:
    """Without ``kid`` no key is guessed."""
    key_server.publish(rsa_jwk)

    async def story(identify: Identify, clock: Clock) -> None:
        assert await refused(identify, token(rsa_key, None))

    with_keys(key_server.url, story)


def test_an_unknown_key_has_the_set_fetched_again_once_a_minute(key_server: Any, rsa_key: Any, rsa_jwk: Any) -> None:
    """Unknown keys cannot make the server ask more often than that; a new key is found then."""
    key_server.publish(rsa_jwk)

    async def story(identify: Identify, clock: Clock) -> None:
        await identify(token(rsa_key, "rsa-1"))
        for n in range(5):
            assert await refused(identify, token(rsa_key, f"invented-{n}"))
        assert key_server.asked == 1
        key_server.publish(rsa_jwk, rsa_jwk | {"kid": "rsa-2"})
        clock.now += UNKNOWN_KEY_PAUSE_S
        await identify(token(rsa_key, "rsa-2"))
        assert key_server.asked == 2

    with_keys(key_server.url, story)


def test_many_at_once_fetch_once(key_server: Any, rsa_key: Any, rsa_jwk: Any) -> None:
    """Tokens that come together wait for one fetch."""
    key_server.publish(rsa_jwk)

    async def story(identify: Identify, clock: Clock) -> None:
        await asyncio.gather(*(identify(token(rsa_key, "rsa-1")) for _ in range(20)))
        assert key_server.asked == 1

    with_keys(key_server.url, story)


def test_a_known_key_does_not_wait_for_an_unknown_one(key_server: Any, rsa_key: Any, rsa_jwk: Any) -> None:
    """While the set is fetched for an unknown key, tokens with a known key are checked at once."""
    key_server.publish(rsa_jwk)

    async def story(identify: Identify, clock: Clock) -> None:
        await identify(token(rsa_key, "rsa-1"))
        clock.now += UNKNOWN_KEY_PAUSE_S
        key_server.answers.clear()
        key_server.was_asked.clear()
        unknown = asyncio.create_task(refused(identify, token(rsa_key, "invented")))
        await asyncio.to_thread(key_server.was_asked.wait, 10)
        await identify(token(rsa_key, "rsa-1"))
        assert not unknown.done()
        key_server.answers.set()
        assert await unknown

    with_keys(key_server.url, story)


def test_a_set_is_fetched_again_after_ten_minutes(key_server: Any, rsa_key: Any, rsa_jwk: Any) -> None:
    """A key that was withdrawn is refused ten minutes later at the latest."""
    key_server.publish(rsa_jwk)

    async def story(identify: Identify, clock: Clock) -> None:
        await identify(token(rsa_key, "rsa-1"))
        key_server.publish()
        clock.now += LIFETIME_S - 1
        await identify(token(rsa_key, "rsa-1"))
        clock.now += 1
        assert await refused(identify, token(rsa_key, "rsa-1"))

    with_keys(key_server.url, story)


def test_with_the_key_server_down_all_is_refused_until_it_is_back(key_server: Any, rsa_key: Any, rsa_jwk: Any) -> None:
    """Without keys nothing holds; a broken server is asked again after a pause, not at each token."""
    key_server.publish(rsa_jwk)
    key_server.status = 500

    async def story(identify: Identify, clock: Clock) -> None:
        assert await refused(identify, token(rsa_key, "rsa-1"))
        assert await refused(identify, token(rsa_key, "rsa-1"))
        assert key_server.asked == 1
        key_server.status = 200
        clock.now += FAILURE_PAUSE_S
        await identify(token(rsa_key, "rsa-1"))

    with_keys(key_server.url, story)


def test_with_the_key_server_gone_known_keys_go_on_for_their_time(key_server: Any, rsa_key: Any, rsa_jwk: Any) -> None:
    """The cache outlives the server that filled it, for ten minutes and no longer; unknown keys are refused."""
    key_server.publish(rsa_jwk)

    async def story(identify: Identify, clock: Clock) -> None:
        await identify(token(rsa_key, "rsa-1"))
        key_server.stop()
        clock.now += UNKNOWN_KEY_PAUSE_S
        assert await refused(identify, token(rsa_key, "rsa-2"))
        await identify(token(rsa_key, "rsa-1"))
        clock.now += LIFETIME_S
        assert await refused(identify, token(rsa_key, "rsa-1"))

    with_keys(key_server.url, story)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"keys": 7}', b'{"keys": [7, {}]}', b"[" * 100_000])
def test_nonsense_in_place_of_keys_is_no_key(key_server: Any, rsa_key: Any, body: bytes) -> None:
    """Whatever the address answers, the token is refused, not the server broken."""
    key_server.body = body

    async def story(identify: Identify, clock: Clock) -> None:
        assert await refused(identify, token(rsa_key, "rsa-1"))

    with_keys(key_server.url, story)
