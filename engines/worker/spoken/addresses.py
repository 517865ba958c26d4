"""Addresses of the web and of mail, said mark by mark: espeak-ng makes pauses of their dots and skips their strokes."""

from __future__ import annotations

import re
from typing import Final

_ADDRESS = re.compile(
    r"(?i:\bhttps?://|\bwww\.)[^\s<>()«»\"]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
    r"|(?<![\w.-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.(?:fr|ca|com|org|net|be|ch|eu|info)(?![\w-]|\.\w)"
)
_UNSAID = re.compile(r"(?i)(?:https?://)?(?:www\.)?")
_PIECE = re.compile(r"[^\W_]+|[\W_]")
_ENDS: Final = ".,;:!?…'*_`/"
_FRENCH: Final = {
    ".": "point", "/": "slash", "@": "arobase", "-": "tiret", "_": "tiret bas", "?": "point d'interrogation",
    "=": "égale", "&": "et", "#": "dièse", "+": "plus", ":": "deux-points", "%": "pour cent", "~": "tilde",
}  # fmt: skip
_ENGLISH: Final = {
    ".": "dot", "/": "slash", "@": "at", "-": "dash", "_": "underscore", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", "+": "plus", ":": "colon", "%": "percent", "~": "tilde",
}  # fmt: skip
_MARKS: Final = {"fr-fr": _FRENCH, "en-us": _ENGLISH, "en-gb": _ENGLISH}


def in_words(text: str, espeak_language: str) -> str:
    """Return ``text`` with each address in words, "marie arobase exemple point fr"; ``https://www.`` is not said."""
    marks = _MARKS.get(espeak_language)
    return _ADDRESS.sub(lambda found: _said(found[0], marks), text) if marks else text


def _said(address: str, marks: dict[str, str]) -> str:
    bare = address.rstrip(_ENDS)
    end = address[len(bare) :].lstrip("/")
    pieces = _PIECE.findall(_UNSAID.sub("", bare, count=1))
    return " ".join("c a" if piece == "ca" else marks.get(piece, piece) for piece in pieces) + end
