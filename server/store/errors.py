"""What can go wrong in the store. Messages name operation, id and state; never what was said."""

from __future__ import annotations


class StoreError(Exception):
    """The database could not do what was asked."""


class WrongState(StoreError):
    """The production is unknown, or not in a state in which that may be done to it. Nothing was changed."""
