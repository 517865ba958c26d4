"""The dialogue in the order of speech, kept to what was heard.

A candidate's segment gets its place when it is announced, and its text when it is recognised, however late. An
examiner's turn gets its place when it begins to be said; its text is what the samples that were played cover, so it
grows with them and stops where they stop: whole sentences, then the words of the broken one in proportion.

Every reading of the dialogue is made from those entries: transcript lines, the words of the candidate, and
the history for the LLM. The history is append-only from one reading to the next (a server with a KV cache
reads only what is new); past its budget it is cut to half of it in one block, and is append-only again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Literal

from server.exam.notices import Language
from server.exam.spoken import Spoken, one_line, tail

Speaker = Literal["candidate", "examiner"]
ChatRole = Literal["user", "assistant"]

LABELS: dict[Language, dict[Speaker, str]] = {
    "fr": {"candidate": "Candidat :", "examiner": "Examinateur :"},
    "en": {"candidate": "Candidate:", "examiner": "Examiner:"},
}
"""What a line of the transcript begins with."""

_CHAT_ROLES: dict[Speaker, ChatRole] = {"candidate": "user", "examiner": "assistant"}


@dataclass(slots=True, eq=False)
class Segment:
    """A stretch of candidate speech. An ``aside`` was spoken into the examiner's turn without meaning to cut it."""

    text: str = ""
    aside: bool = False
    speaker: Literal["candidate"] = field(default="candidate", init=False)


Entry = Segment | Spoken


class Dialogue:
    """One session's dialogue."""

    def __init__(self, language: Language) -> None:
        self._labels = LABELS[language]
        self._entries: list[Entry] = []
        self._segments: dict[int, Segment] = {}
        self._unheard: set[int] = set()
        self._turns: dict[int, Spoken] = {}
        self._anchor: Spoken | None = None
        self._cut = 0

    def announce(self, segment: int, *, aside: bool = False) -> None:
        """Give ``segment`` its place: at the end, or before the turn under which :meth:`say` keeps a place."""
        if segment in self._segments:
            return
        entry = self._segments[segment] = Segment(aside=aside)
        self._unheard.add(segment)
        place = len(self._entries) if self._anchor is None else self._entries.index(self._anchor)
        self._entries.insert(place, entry)

    def hear(self, segment: int, text: str) -> None:
        """Fill in the text of ``segment``, which is announced by this if it was not before."""
        self.announce(segment)
        self._unheard.discard(segment)
        self._segments[segment].text = one_line(text)

    def is_heard_up_to(self, segment: int) -> bool:
        """Say whether every announced segment up to ``segment`` has got its text."""
        return all(number > segment for number in self._unheard)

    def say(self, spoken: Spoken, *, keep_place: bool) -> None:
        """Begin an examiner's turn. With ``keep_place``, segments announced before :meth:`release` go before it."""
        self._turns[spoken.turn] = spoken
        self._entries.append(spoken)
        self._anchor = spoken if keep_place else None

    def release(self) -> None:
        """Let the next segments follow the examiner's turn."""
        self._anchor = None

    def said(self, turn: int) -> Spoken | None:
        """Return the examiner's turn of that number, if it began to be said."""
        return self._turns.get(turn)

    @property
    def is_empty(self) -> bool:
        """Whether the candidate has said nothing, whatever the examiner has."""
        return not any(segment.text for segment in self._segments.values())

    @property
    def candidate_text(self) -> str:
        """All that the candidate has said."""
        return _joined([entry for entry in self._entries if isinstance(entry, Segment)])

    @property
    def examiner_texts(self) -> list[str]:
        """What was heard of each of the examiner's turns."""
        return [entry.text for entry in self._entries if isinstance(entry, Spoken) and entry.text]

    def unanswered(self, open_text: str = "") -> str:
        """Return what the candidate said, asides left out, since the examiner was last heard; ``open_text`` ends it."""
        rest: list[Entry] = []
        for entry in self._entries:
            if isinstance(entry, Segment):
                rest += [] if entry.aside else [entry]
            elif entry.text:
                rest.clear()
        return _joined([*rest, Segment(one_line(open_text))])

    @property
    def lines(self) -> list[str]:
        """The transcript, a line a turn. Segments without an examiner's turn between them are one turn."""
        lines = []
        for speaker, entries in self._grouped(0):
            texts = [_joined(entries)] if speaker == "candidate" else [entry.text for entry in entries]
            lines += [f"{self._labels[speaker]} {text}" for text in texts]
        return lines

    def history(self, budget_chars: int, open_text: str = "") -> tuple[tuple[ChatRole, str], ...]:
        """Return the dialogue as chat messages, roles alternating, oldest first, in ``budget_chars`` characters.

        Each call gives what the last one gave and more, but for a cut: when the budget is passed, the oldest
        messages go until half of it is left. A newest message above the budget keeps its end. ``open_text`` is what the
        candidate has said since the newest segment: the history is then what it would be with it, and nothing is kept.
        """
        open_segment = [Segment(one_line(open_text))] if open_text else []
        messages = [(speaker, _joined(entries), entries) for speaker, entries in self._grouped(self._cut, open_segment)]
        size = sum(len(text) for _, text, _ in messages)
        if size > budget_chars:
            while len(messages) > 1 and (size > budget_chars // 2 or messages[0][0] == "examiner"):
                size -= len(messages.pop(0)[1])
            if not open_text:
                self._cut = self._entries.index(messages[0][2][0])
        return tuple((_CHAT_ROLES[speaker], tail(text, budget_chars)) for speaker, text, _ in messages)

    def _grouped(self, first: int, more: Sequence[Entry] = ()) -> Iterator[tuple[Speaker, list[Entry]]]:
        spoken = (entry for entry in chain(self._entries[first:], more) if entry.text)
        for speaker, entries in groupby(spoken, key=lambda entry: entry.speaker):
            yield speaker, list(entries)


def _joined(entries: list[Entry] | list[Segment]) -> str:
    return " ".join(entry.text for entry in entries if entry.text)
