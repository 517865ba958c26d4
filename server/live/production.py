"""One session's production: what the store is told of it, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from uuid import UUID

from server.exam.facts import UtteranceHeard
from server.speech.fluency import Utterance
from server.store.productions import Productions
from server.store.records import Tache


class Production:
    """Grows with the session. Its row is opened by the first write, so that a session without a word leaves none.

    ``elapsed_ms`` gives the session's length so far, ``latency`` the figures measured so far.
    """

    def __init__(
        self,
        productions: Productions,
        *,
        user_id: str,
        tache: Tache,
        sujet_id: UUID | None,
        langue: str,
        instance: str,
        elapsed_ms: Callable[[], int],
        latency: Callable[[], dict[str, Any]],
    ) -> None:
        self.user_id = user_id
        self.id: UUID | None = None
        self._productions = productions
        self._tache: Tache = tache
        self._sujet_id = sujet_id
        self._langue = langue
        self._instance = instance
        self._elapsed_ms = elapsed_ms
        self._latency = latency
        self._utterances: list[dict[str, Any]] = []

    def hear(self, heard: UtteranceHeard) -> None:
        """Keep an utterance's figures, for the evaluation."""
        utterance = Utterance(
            heard.text, heard.start_ms, heard.end_ms, heard.speech_ms, heard.confidence, heard.pauses_ms
        )
        self._utterances.append(asdict(utterance))

    async def write(self, transcript: str, *, final: bool) -> None:
        """Store the transcript as it stands, or for good when ``final``.

        Raises :class:`server.store.errors.StoreError`; the next write then stores what this one could not.
        """
        if self.id is None:
            self.id = await self._productions.open(
                user_id=self.user_id,
                tache=self._tache,
                sujet_id=self._sujet_id,
                langue=self._langue,
                instance=self._instance,
            )
        await self._productions.grow(
            self.id, transcript=transcript, utterances=self._utterances, duration_ms=self._elapsed_ms()
        )
        if final:
            await self._productions.close(self.id, latency=self._latency())
