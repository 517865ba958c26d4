"""Checks a token and says who holds it, and on which plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import jwt

from server.auth.errors import AuthRequired
from server.auth.keys import Keys, KeySet, SharedSecret
from server.auth.local_secret import signing_secret
from server.settings import Settings

MAX_TOKEN_CHARS = 8192
MAX_SUBJECT_CHARS = 255
"""Length of a user's id that the store takes."""

PlanOf = Callable[[str], Awaitable[str | None]]
"""The plan that the server itself keeps for a user, if any."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A user, and the plan that was granted to them, if any."""

    sub: str
    plan: str | None


class Authenticator:
    """Checks tokens with one algorithm, pinned when it is made; what a token says of its own decides nothing."""

    def __init__(self, keys: Keys, plan_of: PlanOf, *, algorithm: str, audience: str, leeway_s: float) -> None:
        self._keys = keys
        self._plan_of = plan_of
        self._algorithm = algorithm
        self._audience = audience
        self._leeway_s = leeway_s

    @classmethod
    def of(cls, settings: Settings, plan_of: PlanOf, client: httpx.AsyncClient) -> Authenticator:
        """Return the authenticator that ``settings`` describe; ``client`` fetches the key set where there is one.

        Raises :class:`OSError` when the local secret can neither be read nor made.
        """
        keys: Keys
        if settings.jwks_url is not None:
            keys = KeySet(settings.jwks_url, settings.jwt_algorithm, client)
        else:
            keys = SharedSecret(signing_secret(settings))
        return cls(
            keys,
            plan_of,
            algorithm=settings.jwt_algorithm,
            audience=settings.jwt_audience,
            leeway_s=settings.jwt_leeway_s,
        )

    async def authenticate(self, token: str | None) -> Identity:
        """Return who holds ``token``.

        The plan is the server's own record of the user, else the token's ``app_metadata.plan``, which only its issuer
        can write; ``user_metadata`` is the user's to write and grants nothing. Raises :class:`AuthRequired`.
        """
        claims = await self._claims(token)
        sub = claims["sub"]
        if not 0 < len(sub) <= MAX_SUBJECT_CHARS:
            raise AuthRequired(f"the token's sub has {len(sub)} characters, expected 1 to {MAX_SUBJECT_CHARS}")
        if not sub.isprintable():
            raise AuthRequired("the token's sub has marks that cannot be printed")
        return Identity(sub, await self._plan_of(sub) or _granted_plan(claims))

    async def _claims(self, token: str | None) -> dict[str, Any]:
        if not token or len(token) > MAX_TOKEN_CHARS:
            raise AuthRequired("there is no token, or it is too long")
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") != self._algorithm:
                raise AuthRequired(f"the token is not signed with {self._algorithm}")
            return jwt.decode(
                token,
                await self._keys.find(header.get("kid")),
                algorithms=[self._algorithm],
                audience=self._audience,
                leeway=self._leeway_s,
                options={"require": ["exp", "sub", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
            raise AuthRequired(f"the token does not hold: {type(error).__name__}") from None


def _granted_plan(claims: dict[str, Any]) -> str | None:
    metadata = claims.get("app_metadata")
    plan = metadata.get("plan") if isinstance(metadata, dict) else None
    return plan if isinstance(plan, str) else None
