"""What the voice needs in order to prepare one examiner's turn: the prompt, and the screen its words must pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

Role = Literal["system", "user", "assistant"]


class Screen(Protocol):
    """Lets pass, of an answer's sentences, only what the examiner may say. One screen serves one answer."""

    def feed(self, sentence: str) -> list[str]:
        """Take the answer's next sentence, as it was written; return what may be spoken now, in order."""
        ...

    def finish(self) -> list[str]:
        """The answer is over; return what may still be spoken."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of one request, as ``(role, content)``, oldest first."""

    messages: tuple[tuple[Role, str], ...]
    max_tokens: int
    temperature: float = 0.7


@dataclass(frozen=True, slots=True)
class ReplyBrief:
    """How to prepare a turn: each prompt in order until one leaves something after its screen, then ``fallback``.

    With no prompts at all the fallback is spoken at once. ``fallback`` is a sentence of the bank: it needs no screen,
    and its audio may have been made ahead of time.
    """

    prompts: tuple[Prompt, ...]
    new_screen: Callable[[], Screen]
    fallback: str
