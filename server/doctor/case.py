"""An engine that failed, and all that is known of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from engines.errors import EngineError
from server.doctor.exchange import NotedSetup
from server.doctor.in_force import bare, place
from server.settings import EngineChoice


@dataclass(frozen=True, slots=True)
class Case:
    """Its choice and setup, its error, and the limit in seconds that it was given.

    ``voices`` are those of our own worker, where they are known.
    """

    choice: EngineChoice
    setup: NotedSetup
    error: EngineError
    limit_s: float
    voices: Collection[str] = ()

    def place(self, setting: str) -> str:
        """Return where this engine's ``url``, ``model``, … is set, or is to be."""
        return place(f"{self.choice.name}_{setting}")

    @property
    def server(self) -> str:
        """The server's address as it may be shown."""
        return bare(self.choice.url or "")

    def caused_by(self, kind: type[BaseException]) -> bool:
        """Whether an exception of ``kind`` is among the causes of the error."""
        return any(isinstance(cause, kind) for cause in _causes(self.error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
