"""The tables, as the newest migration leaves them."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    Uuid,
)


class UtcTime(TypeDecorator[datetime]):
    """A moment in UTC. SQLite forgets the zone, so it is put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back to a moment that was stored without."""
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


metadata = MetaData()

profiles = Table(
    "profiles",
    metadata,
    Column("id", String(255), primary_key=True),
    Column("plan", String(64)),
    Column("nclc_cible", Integer),
    Column("created_at", UtcTime, nullable=False),
)

sujets = Table(
    "sujets",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("mode", String(8), nullable=False),
    Column("tache", Integer, nullable=False),
    Column("titre", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("contexte", Text, nullable=False),
    Column("consigne", Text, nullable=False),
    Column("langue", String(2), nullable=False),
    Column("actif", Boolean, nullable=False),
)

productions = Table(
    "productions",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("user_id", String(255), nullable=False),
    Column("tache", String(16), nullable=False),
    Column("sujet_id", Uuid, ForeignKey("sujets.id", name="fk_productions_sujet_id")),
    Column("mode", String(16), nullable=False),
    Column("langue", String(2), nullable=False),
    Column("transcript", Text, nullable=False),
    Column("utterances", JSON, nullable=False),
    Column("duration_ms", Integer, nullable=False),
    Column("rapport", JSON(none_as_null=True)),
    Column("score", Integer),
    Column("nclc", Integer),
    Column("statut", String(16), nullable=False),
    Column("instance", String(255), nullable=False),
    Column("latency", JSON(none_as_null=True)),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Index("ix_productions_user", "user_id", "created_at"),
    Index("ix_productions_pending", "instance", "statut"),
)
