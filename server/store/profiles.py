"""What the server itself knows of its users."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import insert, select, update

from server.store.database import Database
from server.store.records import Profile
from server.store.tables import profiles


class Profiles:
    """The table ``profiles``. Raises :class:`StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, sub: str) -> Profile | None:
        """Return the profile of the user ``sub``."""
        async with self._database.begin("read a profile") as connection:
            row = (await connection.execute(select(profiles).where(profiles.c.id == sub))).one_or_none()
        return Profile(**row._mapping) if row is not None else None

    async def plan_of(self, sub: str) -> str | None:
        """Return the plan that the server keeps for the user, if any."""
        profile = await self.get(sub)
        return profile.plan if profile is not None else None

    async def upsert(self, sub: str, *, plan: str | None, nclc_cible: int | None) -> None:
        """Store the profile of the user ``sub``, over the one that may be there."""
        changes = {"plan": plan, "nclc_cible": nclc_cible}
        async with self._database.begin("store a profile", exclusive=True) as connection:
            done = await connection.execute(update(profiles).where(profiles.c.id == sub).values(changes))
            if not done.rowcount:
                await connection.execute(insert(profiles).values(id=sub, created_at=datetime.now(UTC), **changes))
