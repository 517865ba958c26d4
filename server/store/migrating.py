"""Brings the tables up to date: Alembic's migrations, shipped with the package, run when the store opens."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from server.store.database import Database
from server.store.errors import StoreError

MIGRATIONS = Path(__file__).parent / "migrations"


async def migrate(database: Database) -> None:
    """Run the migrations that are missing, all in one transaction.

    On SQLite it holds the write lock from the start: of two servers that start at once, the second waits and then finds
    nothing to do. Raises :class:`StoreError`, also for a database that a newer release has migrated.
    """
    database.make_room()
    async with database.begin("migrate", exclusive=True) as connection:
        try:
            await connection.run_sync(_upgrade)
        except CommandError as error:
            raise StoreError(f"migrate: the database is not one of this release ({error})") from error


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
