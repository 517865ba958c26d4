"""The secret that tokens are signed with when none is configured: made once, kept in the data directory."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from server.settings import Settings

FILE_NAME = "jwt_secret"
SECRET_BYTES = 48


def signing_secret(settings: Settings) -> str:
    """Return the configured secret for HS256, else the local one, which is made if there is none yet.

    Raises :class:`OSError` when the local secret can neither be read nor made.
    """
    if settings.jwt_secret is not None:
        return settings.jwt_secret.get_secret_value()
    path = settings.data_dir / FILE_NAME
    if not path.exists():
        _make(path)
    return path.read_text("ascii").strip()


def _make(path: Path) -> None:
    """Put a new secret at ``path``, readable by its owner alone. Of several processes that do so at once, one wins."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{FILE_NAME}.")  # mkstemp gives mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(SECRET_BYTES))
        os.link(temporary, path)  # whole or not at all, and never over another's
    except FileExistsError:
        pass
    finally:
        Path(temporary).unlink()
