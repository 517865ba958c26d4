"""How a database comes to have its tables, and keeps what an operator did to it."""

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from server.store.database import Database
from server.store.errors import StoreError
from server.store.store import Store
from server.store.tables import metadata


async def opened(url: str) -> int:
    """Open the store and count its subjects."""
    async with Store(url) as store:
        found = [await store.subjects.list(mode="EO", tache=2, langue=langue) for langue in ("fr", "en")]
    return sum(map(len, found))


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite+aiosqlite:///"))


def test_an_empty_database_is_brought_up_to_date_and_a_second_start_changes_nothing(url: str) -> None:
    """The first start makes everything, directory included; the second finds it done."""
    assert asyncio.run(opened(url)) == 24
    before = file_of(url).read_bytes()
    assert asyncio.run(opened(url)) == 24
    assert file_of(url).read_bytes() == before


OPENING = """
import asyncio, sys
from server.store.store import Store
async def main():
    async with Store(sys.argv[1]):
        pass
asyncio.run(main())
"""


def test_starts_at_the_same_time_do_not_hurt_each_other(url: str) -> None:
    """Several processes that open an empty database at once all succeed, and the subjects are there once."""
    processes = [subprocess.Popen([sys.executable, "-c", OPENING, url]) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert asyncio.run(opened(url)) == 24


def test_the_migrations_make_the_tables_that_the_code_knows(url: str) -> None:
    """What the migrations leave behind is what ``tables`` says, column for column."""

    async def differences() -> list[object]:
        async with Store(url):
            pass
        database = Database(url)
        async with database.begin("compare") as connection:
            found = await connection.run_sync(lambda c: compare_metadata(MigrationContext.configure(c), metadata))
        await database.close()
        return list(found)

    assert asyncio.run(differences()) == []


def test_an_operators_changes_to_subjects_stay(url: str) -> None:
    """A subject that was edited, switched off or removed stays so over a restart."""
    asyncio.run(opened(url))
    with sqlite3.connect(file_of(url)) as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM sujets WHERE langue = 'fr' ORDER BY id")]
        connection.execute("UPDATE sujets SET titre = 'Nouveau' WHERE id = ?", [ids[0]])
        connection.execute("UPDATE sujets SET actif = 0 WHERE id = ?", [ids[1]])
        connection.execute("DELETE FROM sujets WHERE id = ?", [ids[2]])
    connection.close()

    async def titles() -> list[str]:
        async with Store(url) as store:
            return [subject.titre for subject in await store.subjects.list(mode="EO", tache=2, langue="fr")]

    found = asyncio.run(titles())
    assert len(found) == 10
    assert "Nouveau" in found


def test_a_database_of_a_newer_release_is_refused(url: str) -> None:
    """An unknown migration is not guessed at: the error says so, and nothing is changed."""
    asyncio.run(opened(url))
    with sqlite3.connect(file_of(url)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StoreError, match="not one of this release"):
        asyncio.run(opened(url))


def test_a_file_that_is_no_database_is_refused(url: str) -> None:
    """Something else under the database's name is one clear error, and is left as it is."""
    file_of(url).parent.mkdir()
    file_of(url).write_text("not a database " * 100)
    with pytest.raises(StoreError, match="not a database"):
        asyncio.run(opened(url))
    assert file_of(url).read_text().startswith("not a database ")


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """A directory that cannot be made is one clear error."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        asyncio.run(opened(f"sqlite+aiosqlite:///{tmp_path}/file/relance.sqlite3"))


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("nonsense", "parse"),
        ("sqlite:////tmp/x", "async driver"),
        ("oracle+foo://u:SECRET@127.0.0.1/x", "oracle.foo"),
        ("postgresql+nodriver://u:SECRET@127.0.0.1/x", "nodriver"),
    ],
)
def test_an_address_of_no_database_is_refused(address: str, word: str) -> None:
    """What is wrong is told; the address is not, since it may hold a password."""
    with pytest.raises(StoreError, match=word) as refused:
        Store(address)
    assert "SECRET" not in str(refused.value)


def test_sqlite_is_set_up_for_several_sessions(url: str) -> None:
    """Readers beside a writer, foreign keys, and waiting for locks."""

    async def pragmas() -> list[object]:
        database = Database(url)
        database.make_room()
        async with database.begin("look") as connection:
            names = ("journal_mode", "foreign_keys", "busy_timeout")
            values = [(await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one() for name in names]
        await database.close()
        return values

    assert asyncio.run(pragmas()) == ["wal", 1, 5000]
