"""The first subjects of task 2, in French and in English.

Put in once: what an operator changes or removes afterwards stays changed or removed. Subjects that come later need
a migration, and a file, of their own.
"""

import tomllib
import uuid
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SEEDS = Path(__file__).parents[2] / "seeds"

SUJETS = sa.table(
    "sujets",
    sa.column("id", sa.Uuid),
    sa.column("mode", sa.String),
    sa.column("tache", sa.Integer),
    sa.column("titre", sa.Text),
    sa.column("role", sa.Text),
    sa.column("contexte", sa.Text),
    sa.column("consigne", sa.Text),
    sa.column("langue", sa.String),
    sa.column("actif", sa.Boolean),
)


def upgrade() -> None:
    """Put the subjects in."""
    for langue in ("fr", "en"):
        seeds = tomllib.loads((SEEDS / f"subjects.{langue}.toml").read_text("utf-8"))["subject"]
        rows = [seed | {"id": uuid.UUID(seed["id"]), "mode": "EO", "tache": 2, "langue": langue} for seed in seeds]
        op.bulk_insert(SUJETS, [row | {"actif": True} for row in rows])


def downgrade() -> None:
    """Leave them: productions may be bound to them."""
