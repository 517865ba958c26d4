"""The examiner's turns. One at most is alive: it is prepared, perhaps said, and ends when it was heard or dropped.

What comes late about a turn that has ended still counts for what was heard of it, and for nothing else.
"""

from __future__ import annotations

from server.exam.brief import ReplyBrief
from server.exam.dialogue import Dialogue
from server.exam.effects import CancelReply, Effect, PrepareReply, TakeStock
from server.exam.spoken import Spoken

SAMPLES_PER_S = 24_000
"""Rate of the examiner's audio."""

STALL_S = 10.0
"""How long a turn that is being said may go unreported, beyond the sound that is known to be left of it."""


class Examiner:
    """Numbers the turns from 1 and keeps the one that is alive. ``stalls_at`` is when a said turn is given up."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.last_turn = 0
        self.is_saying = False
        self.stalls_at: float | None = None
        self._dialogue = dialogue
        self._alive: Spoken | None = None

    @property
    def turn(self) -> int | None:
        """Number of the turn that is alive."""
        return None if self._alive is None else self._alive.turn

    def take_stock(self) -> list[Effect]:
        """Begin a turn by asking what the candidate has said so far."""
        return [TakeStock(self._new_turn().turn)]

    def prepare(self, brief: ReplyBrief) -> list[Effect]:
        """Prepare a new turn; one that is alive is dropped for it."""
        return [*self.drop(), PrepareReply(self._new_turn().turn, brief)]

    def prepare_same(self, brief: ReplyBrief) -> list[Effect]:
        """Prepare the turn for which stock was taken."""
        return [PrepareReply(self._living().turn, brief)]

    def say(self, now: float, *, keep_place: bool) -> int:
        """Put the turn that is alive into the dialogue, as being said; return its number.

        With ``keep_place``, words of the candidate that are on their way will go before it.
        """
        self.is_saying = True
        self._dialogue.say(self._living(), keep_place=keep_place)
        self.watch(now)
        return self._living().turn

    def voice(self, turn: int, text: str, samples: int) -> None:
        """Note a sentence that became audio."""
        spoken = self._alive if turn == self.turn else self._dialogue.said(turn)
        if spoken is not None:
            spoken.voice(text, samples)

    def watch(self, now: float) -> None:
        """The turn that is alive was reported on at ``now``: if it is being said, it has not stalled."""
        if self.is_saying:
            left = max(0, self._living().voiced - self._living().played)
            self.stalls_at = now + left / SAMPLES_PER_S + STALL_S

    def drop(self) -> list[Effect]:
        """Cancel the turn that is alive, if one is."""
        return [] if self._alive is None else [CancelReply(self.finish())]

    def finish(self) -> int:
        """End the turn that is alive; return its number."""
        turn = self._living().turn
        self._alive, self.is_saying, self.stalls_at = None, False, None
        return turn

    def _new_turn(self) -> Spoken:
        self.last_turn += 1
        self._alive = Spoken(self.last_turn)
        return self._alive

    def _living(self) -> Spoken:
        if self._alive is None:
            raise RuntimeError(f"no turn of the examiner is alive, the last one was {self.last_turn}")
        return self._alive
