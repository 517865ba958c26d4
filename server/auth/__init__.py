"""Who is calling: tokens, the keys that they are checked with, and where in a request they stand."""

from server.auth.authenticator import Authenticator, Identity
from server.auth.credentials import Credentials, bearer_token, websocket_credentials
from server.auth.errors import AuthRequired
from server.auth.issuing import NoSecret, issue

__all__ = [
    "AuthRequired",
    "Authenticator",
    "Credentials",
    "Identity",
    "NoSecret",
    "bearer_token",
    "issue",
    "websocket_credentials",
]
