"""Tokens of the server's own, for those who have no other issuer."""

from __future__ import annotations

import time

import jwt

from server.auth.local_secret import signing_secret
from server.settings import Settings


class NoSecret(Exception):
    """Tokens are signed by another party here: the server has public keys alone."""


def issue(settings: Settings, sub: str, plan: str | None, ttl_s: int) -> str:
    """Return a token for the user ``sub`` that lasts ``ttl_s`` seconds and grants ``plan``.

    Raises :class:`NoSecret` when the settings name no HS256, and :class:`OSError` when the local secret cannot be had.
    """
    if settings.jwt_algorithm != "HS256":
        raise NoSecret(f"tokens can be issued with HS256 alone; jwt_algorithm is {settings.jwt_algorithm}")
    now = int(time.time())
    claims = {
        "sub": sub,
        "aud": settings.jwt_audience,
        "role": "authenticated",
        "iat": now,
        "exp": now + ttl_s,
        "app_metadata": {"plan": plan} if plan else {},
    }
    return jwt.encode(claims, signing_secret(settings), algorithm="HS256")
