"""Cuts what was fed as one sentence where it holds several after all: a fault must not cost its neighbours."""

from __future__ import annotations

import re

from server.exam.guard.text import QUESTION_MARKS

_MARKS = re.escape(QUESTION_MARKS + "!…")
# A full stop counts after a word of four letters or more, or a number, so that "M. Dupont" stays whole.
_END = re.compile(
    rf"(?:[{_MARKS}]|(?<=[^\W\d_]{{4}})\.|(?<=\d)\.|\.\.)(?:\s*[{_MARKS}»”\")\]])*(?=\s)|"
    rf"[{re.escape(QUESTION_MARKS)}](?=\w)|[\n\r]+"
)


def pieces(text: str) -> list[str]:
    """Return the sentences of ``text``, in order, stripped, none empty."""
    found, start = [], 0
    for end in _END.finditer(text):
        following = text[end.end() :].lstrip()[:1]
        if following.islower() and not set(end[0]) & set(QUESTION_MARKS + "\n\r"):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    return [piece for piece in [*found, text[start:].strip()] if piece]
