"""Run by Alembic: the migrations use the connection, and the transaction, that the store gives."""

from alembic import context

from server.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the store has begun the transaction, and ends it
)
context.run_migrations()
