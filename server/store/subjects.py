"""Subjects of the exam, as candidates may choose them."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import select

from server.store.database import Database
from server.store.records import Subject
from server.store.tables import sujets


class Subjects:
    """The table ``sujets``; those that an operator switched off are not seen. Raises :class:`StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, *, mode: str, tache: int, langue: str) -> list[Subject]:
        """Return the subjects of a mode, task and language, by title."""
        query = (
            select(sujets)
            .where(sujets.c.mode == mode, sujets.c.tache == tache, sujets.c.langue == langue, sujets.c.actif)
            .order_by(sujets.c.titre)
        )
        async with self._database.begin("read subjects") as connection:
            return [Subject(**row._mapping) for row in await connection.execute(query)]

    async def get(self, subject: UUID) -> Subject | None:
        """Return the subject of that id."""
        query = select(sujets).where(sujets.c.id == subject, sujets.c.actif)
        async with self._database.begin("read a subject") as connection:
            row = (await connection.execute(query)).one_or_none()
        return Subject(**row._mapping) if row is not None else None
