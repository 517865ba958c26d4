"""Productions: what a session leaves, stored while it runs.

==========  ==================  =====================
state       may become          by
==========  ==================  =====================
open        open                ``grow``
open        recorded            ``close``
recorded    evaluated           ``evaluated``
open        failed              ``failed``
recorded    failed              ``failed``
==========  ==================  =====================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import insert, select, update

from server.store.database import Database
from server.store.errors import WrongState
from server.store.records import Production, Statut, Tache
from server.store.tables import productions


class Productions:
    """The table ``productions``. Every method raises :class:`server.store.errors.StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(
        self,
        *,
        user_id: str,
        tache: Tache,
        sujet_id: UUID | None,
        langue: str,
        instance: str,
        mode: str = "entrainement",
    ) -> UUID:
        """Store a new, empty production of the session that begins; return its id."""
        now = datetime.now(UTC)
        row = {
            "id": uuid4(),
            "user_id": user_id,
            "tache": tache,
            "sujet_id": sujet_id,
            "mode": mode,
            "langue": langue,
            "transcript": "",
            "utterances": [],
            "duration_ms": 0,
            "statut": "open",
            "instance": instance,
            "created_at": now,
            "updated_at": now,
        }
        async with self._database.begin("open a production") as connection:
            await connection.execute(insert(productions).values(row))
        return row["id"]  # type: ignore[return-value]

    async def grow(
        self, production: UUID, *, transcript: str, utterances: Sequence[Mapping[str, Any]], duration_ms: int
    ) -> None:
        """Store the whole transcript as it stands, and the candidate's utterances so far."""
        changes = {"transcript": transcript, "utterances": list(utterances), "duration_ms": duration_ms}
        await self._change("grow", production, ("open",), changes)

    async def close(self, production: UUID, *, latency: Mapping[str, Any] | None = None) -> None:
        """The transcript is final: from now on the production waits for its evaluation."""
        await self._change("close", production, ("open",), {"statut": "recorded", "latency": latency})

    async def evaluated(self, production: UUID, *, rapport: Mapping[str, Any], score: int, nclc: int) -> None:
        """Store the report: ``score`` out of 20, ``nclc`` as the report has it."""
        changes = {"statut": "evaluated", "rapport": rapport, "score": score, "nclc": nclc}
        await self._change("evaluate", production, ("recorded",), changes)

    async def failed(self, production: UUID) -> None:
        """No report could be had, or nothing was said; what was said stays."""
        await self._change("fail", production, ("open", "recorded"), {"statut": "failed"})

    async def pending(self, instance: str) -> list[Production]:
        """Return the productions of ``instance`` that wait for an end or an evaluation, oldest first.

        Before the server's first session these are what a crash left.
        """
        query = (
            select(productions)
            .where(productions.c.instance == instance, productions.c.statut.in_(("open", "recorded")))
            .order_by(productions.c.created_at)
        )
        async with self._database.begin("read pending productions") as connection:
            return [Production(**row._mapping) for row in await connection.execute(query)]

    async def of_user(self, user_id: str, *, limit: int, offset: int = 0) -> list[Production]:
        """Return a page of a user's productions, newest first."""
        query = (
            select(productions)
            .where(productions.c.user_id == user_id)
            .order_by(productions.c.created_at.desc(), productions.c.id)
            .limit(limit)
            .offset(offset)
        )
        async with self._database.begin("read a user's productions") as connection:
            return [Production(**row._mapping) for row in await connection.execute(query)]

    async def get(self, user_id: str, production: UUID) -> Production | None:
        """Return the user's production of that id; ``None`` also when it is another's."""
        query = select(productions).where(productions.c.id == production, productions.c.user_id == user_id)
        async with self._database.begin("read a production") as connection:
            row = (await connection.execute(query)).one_or_none()
        return Production(**row._mapping) if row is not None else None

    async def _change(
        self, verb: str, production: UUID, expected: tuple[Statut, ...], changes: Mapping[str, object]
    ) -> None:
        statement = (
            update(productions)
            .where(productions.c.id == production, productions.c.statut.in_(expected))
            .values(**changes, updated_at=datetime.now(UTC))
        )
        async with self._database.begin(f"{verb} a production") as connection:
            if (await connection.execute(statement)).rowcount:
                return
            query = select(productions.c.statut).where(productions.c.id == production)
            actual = (await connection.execute(query)).scalar_one_or_none()
        raise WrongState(f"{verb} production {production}: expected it to be {' or '.join(expected)}, it is {actual}")
