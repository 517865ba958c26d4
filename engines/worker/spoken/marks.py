"""Letters, pictures and the marks of layout (Markdown), the same in every language."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_FIRST_SYMBOL: Final = 0x2190
"""Arrows, dingbats and emoji begin here; the symbols below it (°, ©, №) are read aloud as words."""

_LETTERS: Final = {"’": "'", "‘": "'", "ʼ": "'", "−": "-", "‐": "-", "‑": "-", "℃": "°C", "⁄": "/"}
"""Apostrophe, minus, hyphens, degree and fraction stroke as they are typed: espeak-ng and the rules know those."""

_LINK_TARGET = re.compile(r"\]\([^()\s]*(?: \"[^\"\n]*\")?\)")
_TAG = re.compile(r"</?(?:b|i|em|strong|u|br|p|li|ul|ol|code|sub|sup) ?/?>")
_LINE_MARK = re.compile(r"[ \t]*(?:(?:#{1,6}|[-*•–—>])[ \t]+)+")
_FENCE = re.compile(r"[ \t]*(?:```\w*|~~~\w*|[-*_]{3,})[ \t]*")
_TIMES = re.compile(r"(?<=\d) ?\* ?(?=\d)")
_EMPHASIS = re.compile(r"[*`]|~~|(?<![^\W_])_|_(?![^\W_])")
_CELL = re.compile(r" ?\|+ ?")


def plain_letters(text: str) -> str:
    """Return ``text`` composed, with plain apostrophes and letters, without pictures and control characters.

    A picture leaves a space, as it may stand between two words. NUL is a space too: espeak-ng would stop there.
    """
    return "".join(map(_plain, unicodedata.normalize("NFC", text)))


def without_links(text: str) -> str:
    """Return ``text`` with the words alone of each Markdown link or image."""
    return _LINK_TARGET.sub("", text).replace("![", "").replace("[", "").replace("]", "")


def without_layout(text: str) -> str:
    """Return ``text`` on one line without the marks of Markdown; a heading or item ends as a sentence does."""
    line = one_line(" ".join(map(_line, _TAG.sub(" ", text).splitlines())))
    return _CELL.sub(", ", _EMPHASIS.sub("", _TIMES.sub(" × ", line))).replace("_", " ")


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space, French spaces included, made one plain space."""
    return " ".join(text.split())


def _line(line: str) -> str:
    if _FENCE.fullmatch(line):
        return ""
    bare = _LINE_MARK.sub("", line, count=1) if _LINE_MARK.match(line) else line
    return f"{bare}." if bare is not line and bare[-1:].isalnum() else bare


def _plain(letter: str) -> str:
    if letter.isascii():
        return letter if letter.isprintable() or letter.isspace() else " "
    category = unicodedata.category(letter)
    if letter in _LETTERS:
        return _LETTERS[letter]
    if category in {"Cf", "Cs", "Co", "Cn", "Me"} or (category in {"Mn", "Sk"} and ord(letter) >= _FIRST_SYMBOL):
        return ""
    if category == "Cc":
        return letter if letter.isspace() else " "
    return _composed(letter, category)


def _composed(letter: str, category: str) -> str:
    """Letters of other shapes (ᵉ, ﬁ, Ⅳ, １, ₂) as plain ones; a symbol that is none, a picture or arrow, as a space."""
    same = unicodedata.normalize("NFKC", letter)
    picture = ord(letter) >= _FIRST_SYMBOL and (category == "So" or letter <= "\u21ff")
    if picture:
        return same if same.isalnum() else " "
    return same if category[0] == "L" or category in {"Nl", "Nd"} or "₀" <= letter <= "₉" else letter
