"""The database: connections, transactions, and how SQLite must be set up to serve several sessions."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from server.store.errors import StoreError

BUSY_TIMEOUT_MS = 5000
"""How long a SQLite writer waits for another."""


class Database:
    """An engine with the right to begin transactions. Every fault of the database is a :class:`StoreError`.

    So is an address that none can be made of: its message never holds the address, which may have a password in it.
    """

    def __init__(self, url: str) -> None:
        try:
            self._parsed = make_url(url)
            # Parameters are what candidates said: they stay out of error messages, and so out of logs.
            self.engine: AsyncEngine = create_async_engine(self._parsed, hide_parameters=True)
        except (SQLAlchemyError, ImportError) as error:
            raise StoreError(f"database_url cannot be used: {error.args[0]}") from error
        self._is_sqlite = self._parsed.get_backend_name() == "sqlite"
        if self._is_sqlite:
            event.listen(self.engine.sync_engine, "connect", _prepare_connection)
            event.listen(self.engine.sync_engine, "begin", _begin)

    def make_room(self) -> None:
        """Make a SQLite file and its directory, if they are not there. Raises :class:`StoreError`.

        SQLite itself would not tell why a file cannot be opened.
        """
        name = self._parsed.database
        if not self._is_sqlite or not name or name == ":memory:" or name.startswith("file:"):
            return
        try:
            Path(name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))  # transcripts are their owner's
        except OSError as error:
            raise StoreError(f"the database {name} cannot be written: {error.strerror} ({error.filename})") from error

    @asynccontextmanager
    async def begin(self, purpose: str, *, exclusive: bool = False) -> AsyncIterator[AsyncConnection]:
        """Give a connection in a transaction, committed at the end, rolled back on any error.

        ``purpose`` names the operation in errors. ``exclusive`` takes SQLite's write lock at once, as a transaction
        must that reads before it writes: else another writer in between makes it fail without waiting.
        Raises :class:`StoreError`.
        """
        try:
            async with self.engine.connect() as connection:
                await connection.execution_options(relance_begin="BEGIN IMMEDIATE" if exclusive else "BEGIN")
                async with connection.begin():
                    yield connection
        except SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            raise StoreError(f"{purpose}: the database failed ({type(cause).__name__}: {cause})") from error

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


def _prepare_connection(connection: Any, record: object) -> None:
    """Set up a SQLite connection: readers beside a writer (WAL), foreign keys, waiting for locks.

    The driver is told to begin no transactions of its own, as SQLAlchemy's notes on SQLite recommend.
    """
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={BUSY_TIMEOUT_MS}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("relance_begin", "BEGIN"))
