"""What a command says when it cannot do its work."""

from __future__ import annotations


class CommandError(Exception):
    """The command failed; the message is one line for the user, and the exit status is 1."""
