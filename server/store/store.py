"""The store: one database, its tables brought up to date when it is opened."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from server.store.database import Database
from server.store.migrating import migrate
from server.store.productions import Productions
from server.store.profiles import Profiles
from server.store.subjects import Subjects


class Store:
    """An async context manager: inside it the tables are there, and ``productions``, ``subjects``, ``profiles`` serve.

    ``url`` is SQLAlchemy's address of the database, with an async driver. Entering raises
    :class:`server.store.errors.StoreError`.
    """

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        self.productions = Productions(self._database)
        self.subjects = Subjects(self._database)
        self.profiles = Profiles(self._database)

    async def __aenter__(self) -> Self:
        try:
            await migrate(self._database)
        except BaseException:
            await self._database.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._database.close()
