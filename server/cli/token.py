"""``relance token``: a token of this machine's own secret."""

from __future__ import annotations

from typing import Annotated

import typer

from server.auth import issue
from server.auth.authenticator import MAX_SUBJECT_CHARS
from server.cli.errors import CommandError
from server.settings import load

DAY_S = 24 * 3600


def token(
    sub: Annotated[str, typer.Option(help="The user's id.")],
    plan: Annotated[str | None, typer.Option(help="The plan to grant; premium may sit exams.")] = None,
    ttl: Annotated[int, typer.Option(min=1, help="Seconds until it expires.")] = DAY_S,
) -> None:
    """Print a token, and nothing else, on standard output."""
    if not 0 < len(sub) <= MAX_SUBJECT_CHARS:
        raise CommandError(f"--sub: expected 1 to {MAX_SUBJECT_CHARS} characters, got {len(sub)}")
    typer.echo(issue(load(), sub, plan, ttl))
