"""A screen that lets nothing pass that was heard before: a small model asks the same question twice."""

from __future__ import annotations

from collections.abc import Iterable

from server.exam.brief import Screen


class NotAgain:
    """Lets pass what ``screen`` does, but for what was ``heard``. Satisfies :class:`server.exam.brief.Screen`."""

    def __init__(self, screen: Screen, heard: Iterable[str]) -> None:
        self._screen = screen
        self._heard = {_key(text) for text in heard}

    def feed(self, sentence: str) -> list[str]:
        """See :meth:`server.exam.brief.Screen.feed`."""
        return self._new(self._screen.feed(sentence))

    def finish(self) -> list[str]:
        """See :meth:`server.exam.brief.Screen.finish`."""
        return self._new(self._screen.finish())

    def _new(self, sentences: list[str]) -> list[str]:
        return [sentence for sentence in sentences if _key(sentence) not in self._heard]


def _key(text: str) -> str:
    """Return the letters and digits of ``text``, in small letters: what makes two sentences the same to a listener."""
    return "".join(filter(str.isalnum, text.casefold()))
