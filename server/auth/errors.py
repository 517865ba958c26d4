"""The one way in which a token fails."""

from __future__ import annotations


class AuthRequired(Exception):
    """No token, or one that does not hold. The message says what is wrong with it and never quotes it."""
