"""Splits a stream of text into sentences, each as early as it is certain.

Where a sentence ends is a function of the text alone, never of how it was cut into fragments: a boundary is taken only
when the characters that follow can no longer change it, and at most ``WINDOW_CHARS`` of them are looked at.

1. A new line ends a sentence. So do ``! ?`` and, with the exceptions below, ``.`` and ``…``.
2. Further marks and closing quotes or brackets belong to the sentence they follow, also after a French space.
3. A full stop ends nothing inside a number or a name (3.5, site.fr), after an abbreviation that a name or a number
   follows (M. Dupont, no. 3), after an initial, after a list's number, or before a small letter (etc. et puis).
4. Short parentheses are kept whole.
5. A sentence longer than ``MAX_CHARS`` is cut after a comma, else between words, else where it must be.
"""

from __future__ import annotations

import re

MAX_CHARS = 300
"""Longest sentence, in characters: about 20 s of speech, near the 510 phoneme tokens that Kokoro takes at once."""

PARENTHESIS_CHARS = 80
"""Longest parenthesis, in characters, inside which marks end nothing."""

WINDOW_CHARS = MAX_CHARS + PARENTHESIS_CHARS + 20
"""How much text is looked at, at most, to settle where a sentence ends."""

_ENDINGS = re.compile(r"[\n\r\u2028\u2029]|[.!?…？！。]+|\(")
_LINE_ENDS = "\n\r\u2028\u2029"
_MORE_MARKS = "!?…？！"
_CLOSERS = "»”›)]}’'\""
_BEFORE_NAMES = frozenset(
    [
        "M",
        "MM",
        "Mr",
        "Mrs",
        "Ms",
        "Mme",
        "Mlle",
        "Dr",
        "Pr",
        "Prof",
        "Me",
        "Mgr",
        "St",
        "Ste",
        "bd",
        "av",
        "cf",
        "env",
        "ex",
        "vs",
        "approx",
        "e.g",
        "i.e",
    ]
)
_BEFORE_NUMBERS = frozenset(["no", "n", "nº", "n°", "num", "p", "pp", "art", "fig", "vol", "chap", "tél", "tel", "ch"])
_LAST_WORD = re.compile(r"[^\s(«“\"]*$")
_LIST_NUMBER = re.compile(r"\W*\d{1,3}$")
_CLAUSE_END = re.compile(r"[,;:–—](?=\s)")


class SentenceSplitter:
    """Takes text fragments of any length, gives whole sentences. One splitter serves one answer."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, fragment: str) -> list[str]:
        """Take the next fragment; return the sentences that are now certain, stripped, none empty."""
        self._rest += fragment
        return self._take(final=False)

    def finish(self) -> list[str]:
        """The text is over; return the sentences that are left. The splitter is then as new."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> list[str]:
        sentences = []
        rest = self._rest.lstrip()
        while rest:
            end = _first_end(rest[:WINDOW_CHARS], settled=final or len(rest) >= WINDOW_CHARS)
            if end is None:
                break
            sentences.append(rest[:end].rstrip())
            rest = rest[end:].lstrip()
        self._rest = rest
        return sentences


def _first_end(text: str, *, settled: bool) -> int | None:
    """Return where the first sentence of ``text`` ends; ``None`` when more text is needed to tell.

    ``settled`` says that no more text will come, or none that counts.
    """
    position = 0
    while (found := _ENDINGS.search(text, position)) and found.start() < MAX_CHARS:
        if found[0] == "(":
            after = _after_parenthesis(text, found.start(), settled=settled)
            if after is None:
                return None
            position = after
            continue
        if found[0] in _LINE_ENDS:
            return found.start()
        end = _with_closers(text, found.end())
        if end == len(text) and not settled:
            return None
        if _ends(text, found, end):
            return min(len(text[:end].rstrip()), MAX_CHARS)
        position = found.end()
    if not settled:
        return None
    return len(text) if len(text) <= MAX_CHARS else _cut(text)


def _after_parenthesis(text: str, start: int, *, settled: bool) -> int | None:
    """Return where to search on after the parenthesis opened at ``start``: behind it when it is short and whole."""
    inside = text[start : start + PARENTHESIS_CHARS]
    closing = re.search(r"[)\n\r\u2028\u2029]", inside)
    if closing is None and len(inside) < PARENTHESIS_CHARS and not settled:
        return None
    if closing is None or closing[0] != ")":
        return start + 1
    alone = start == 0 and inside[closing.start() - 1] in ".!?…"
    return start + (closing.start() - 1 if alone else closing.end())


def _with_closers(text: str, end: int) -> int:
    """Move ``end`` behind what belongs to the sentence: marks, closing quotes and brackets, and spaces."""
    while end < len(text):
        mark = text[end]
        spaced = text[end - 1].isspace()
        straight = mark in "'’\"" and (spaced or text[:end].count(mark) % 2 == 0)  # may well open what follows
        if not (mark in _MORE_MARKS or (mark in _CLOSERS and not straight) or _is_blank(mark)):
            break
        end += 1
    return end


def _is_blank(mark: str) -> bool:
    return mark.isspace() and mark not in _LINE_ENDS


def _ends(text: str, found: re.Match[str], end: int) -> bool:
    """Whether the marks ``found`` end a sentence; ``end`` is where the next one would begin."""
    following = text[end : end + 1]
    marks = found[0]
    if set(marks) - set(".…") or end == len(text) or following in _LINE_ENDS:
        return not _is_list_number(text, found)
    if set(text[found.end() : end]) & set("!?？！"):
        return True
    if end == found.end():  # nothing between: 3.5, site.fr; but "Bonjour.Je" has only lost its space
        return following.isupper() and (text[: found.start()][-3:].islower() and text[: found.start()][-3:].isalpha())
    if following.islower():
        return False
    return marks != "." or not _is_abbreviation(text, found, following)


def _is_list_number(text: str, found: re.Match[str]) -> bool:
    return found[0] == "." and _LIST_NUMBER.fullmatch(text, 0, found.start()) is not None and found.end() < len(text)


def _is_abbreviation(text: str, found: re.Match[str], following: str) -> bool:
    """Whether the full stop ``found`` belongs to the word before it."""
    last = _LAST_WORD.search(text, 0, found.start())
    word = last[0] if last else ""
    if len(word) == 1 and word.isupper():
        return True
    if word in _BEFORE_NAMES or _is_list_number(text, found):
        return True
    return word.lower() in _BEFORE_NUMBERS and following.isdigit()


def _cut(text: str) -> int:
    """Return where to cut a text without an end: after a clause in its second half, else at a space, else anywhere."""
    clauses = [found.end() for found in _CLAUSE_END.finditer(text, MAX_CHARS // 2, MAX_CHARS)]
    if clauses:
        return clauses[-1]
    return max((i for i in range(1, MAX_CHARS) if text[i].isspace()), default=MAX_CHARS)
