"""Looks at the database without changing it: can it be opened, and has it the tables of this release?"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from urllib.parse import quote

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from server.doctor.findings import Finding, fault, ok
from server.doctor.ground import nearest_directory
from server.doctor.in_force import bare, place
from server.store.migrating import MIGRATIONS


async def check_database(address: str, limit_s: float) -> Finding:
    """Check the database at ``address``; nothing is made, migrated or locked."""
    mend = f"Set {place('database_url')} to a database that can be opened, or give its file to the user that serves."
    try:
        url = make_url(address)
        path = _file(url)
        if path is None:
            revision = await _revision(url, limit_s)
        elif path.exists():
            os.close(os.open(path, os.O_RDWR))
            revision = await _revision(_read_only(url, path), limit_s)
        else:
            with tempfile.TemporaryFile(dir=nearest_directory(path.parent)):
                return ok("database", f"{path} is not there yet, the server makes it at its first start")
    except TimeoutError:
        return fault("database", f"expected a connection to {bare(address)}, the time was up", mend)
    except (SQLAlchemyError, ImportError, OSError) as error:
        return fault("database", f"{path_or_kind(address)} cannot be opened: {_reason(error)}", mend)
    return _judged(path_or_kind(address), revision)


def path_or_kind(address: str) -> str:
    """Return what a database is called in a finding: its file, or its address without user and password."""
    try:
        return str(_file(make_url(address)) or bare(address))
    except SQLAlchemyError:
        return "database_url"


def _file(url: URL) -> Path | None:
    """Return the path of a SQLite database that is an ordinary file."""
    name = url.database
    is_file = url.get_backend_name() == "sqlite" and name and name != ":memory:" and not name.startswith("file:")
    return Path(str(name)) if is_file else None


def _read_only(url: URL, path: Path) -> URL:
    """Return the address that opens the file and leaves no trace.

    A database in WAL mode that nobody has open would get its two side files made even by a reader, and keep them: then
    it is opened as one that nobody changes.
    """
    is_open = path.with_name(f"{path.name}-wal").exists()
    query = {"mode": "ro", "uri": "true"} | ({} if is_open else {"immutable": "1"})
    return url.set(database=f"file:{quote(str(path.absolute()))}", query=query)


async def _revision(url: URL, limit_s: float) -> str | None:
    engine = create_async_engine(url, hide_parameters=True)
    try:
        async with asyncio.timeout(limit_s), engine.connect() as connection:
            return await connection.run_sync(_current)
    finally:
        await engine.dispose()


def _current(connection: Connection) -> str | None:
    return next(iter(MigrationContext.configure(connection).get_current_heads()), None)


def _judged(name: str, revision: str | None) -> Finding:
    scripts = ScriptDirectory(str(MIGRATIONS))
    latest = scripts.get_current_head()
    if revision is None:
        return ok("database", f"{name} is empty, the server makes its tables")
    if revision == latest:
        return ok("database", f"{name} is at migration {revision}, the latest")
    if revision in {script.revision for script in scripts.walk_revisions()}:
        return ok("database", f"{name} is at migration {revision}, the server brings it to {latest}")
    told = f"{name} is not one of this release: expected migration {latest} or an earlier one, got {revision}"
    return fault(
        "database", told, f"Install the release that made it, or set {place('database_url')} to another database."
    )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}: {cause.args[0] if cause.args else ''}"
