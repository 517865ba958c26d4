"""Which slot of a llama.cpp server a request goes to, so that a conversation finds there what was read of it before.

llama.cpp itself takes the slot whose content is most like the request. Two sessions whose prompts begin with the same
long system message then take each other's slots, and each turn is read anew from there on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from engines.protocols import Message


@dataclass(slots=True)
class _Slot:
    number: int
    messages: tuple[Message, ...] = ()
    is_conversation: bool = False
    requests: int = 0
    used: int = 0


class Slots:
    """The ``count`` slots of one server.

    Background work goes to the last one, which the server serves after the others. Any other request goes, in this
    order of preference, to one of the others (if there are any): to the slot that it continues; to a free one whose
    conversation it takes up with another last message (words heard anew, a second try left behind); to a free one of
    requests that nothing continued (a relance); to the free one that was longest not used; to the one that was longest
    not used, behind what is under way there.
    """

    def __init__(self, count: int) -> None:
        self._slots = [_Slot(number) for number in range(count)]
        self._uses = 0

    @contextmanager
    def taken(self, messages: Sequence[Message], *, in_background: bool = False) -> Iterator[int]:
        """Give the number of the slot for ``messages``, which holds them afterwards."""
        asked = tuple(messages)
        eligible = self._slots[-1:] if in_background else self._slots[:-1] or self._slots
        slot = next((each for each in eligible if _continues(asked, each.messages)), None)
        if slot is None:
            slot = next((each for each in eligible if not each.requests and _takes_up(asked, each.messages)), None)
        is_conversation = slot is not None
        if slot is None:
            slot = min(eligible, key=lambda each: (each.requests, each.is_conversation, each.used))
        self._uses += 1
        slot.messages, slot.is_conversation, slot.used = asked, is_conversation, self._uses
        slot.requests += 1
        try:
            yield slot.number
        finally:
            slot.requests -= 1


def _continues(asked: tuple[Message, ...], before: tuple[Message, ...]) -> bool:
    """Return whether ``asked`` begins with ``before``, whose last message may have grown; a first one alone is none."""
    if not 2 <= len(before) <= len(asked):
        return False
    *same, last = before
    grown = asked[len(same)]
    return list(asked[: len(same)]) == same and grown.role == last.role and grown.content.startswith(last.content)


def _takes_up(asked: tuple[Message, ...], before: tuple[Message, ...]) -> bool:
    """Return whether the two differ in the last message of ``before`` alone, and are of one conversation for all that.

    They are if more than the system message is the same, or if that last message only had words behind those of now.
    """
    if not 2 <= len(before) <= len(asked):
        return False
    *same, last = before
    now = asked[len(same)]
    is_shorter = bool(now.content) and last.content.startswith(now.content)
    return list(asked[: len(same)]) == same and now.role == last.role and (len(same) > 1 or is_shorter)
