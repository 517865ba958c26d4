"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make profiles, sujets and productions."""
    op.create_table(
        "profiles",
        sa.Column("id", sa.String(255), primary_key=True),
        sa.Column("plan", sa.String(64)),
        sa.Column("nclc_cible", sa.Integer),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "sujets",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("mode", sa.String(8), nullable=False),
        sa.Column("tache", sa.Integer, nullable=False),
        sa.Column("titre", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("contexte", sa.Text, nullable=False),
        sa.Column("consigne", sa.Text, nullable=False),
        sa.Column("langue", sa.String(2), nullable=False),
        sa.Column("actif", sa.Boolean, nullable=False),
    )
    op.create_table(
        "productions",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("tache", sa.String(16), nullable=False),
        sa.Column("sujet_id", sa.Uuid, sa.ForeignKey("sujets.id", name="fk_productions_sujet_id")),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("langue", sa.String(2), nullable=False),
        sa.Column("transcript", sa.Text, nullable=False),
        sa.Column("utterances", sa.JSON, nullable=False),
        sa.Column("duration_ms", sa.Integer, nullable=False),
        sa.Column("rapport", sa.JSON),
        sa.Column("score", sa.Integer),
        sa.Column("nclc", sa.Integer),
        sa.Column("statut", sa.String(16), nullable=False),
        sa.Column("instance", sa.String(255), nullable=False),
        sa.Column("latency", sa.JSON),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_productions_user", "productions", ["user_id", "created_at"])
    op.create_index("ix_productions_pending", "productions", ["instance", "statut"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("productions")
    op.drop_table("sujets")
    op.drop_table("profiles")
