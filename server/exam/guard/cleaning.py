"""Takes off a sentence what is not speech: mark-up, list marks, emoji, stage directions, labels, quotes around it."""

from __future__ import annotations

import re
import unicodedata

from server.exam.guard.grammar import one_of
from server.exam.guard.labels import unlabelled
from server.exam.guard.text import composed, fold

_THOUGHT = re.compile(r"<think\b.*?(?:</think\s*>|$)|^.*?</think\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,60}>|<\|[^<>]{0,60}\|>|```\w*")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_LIST_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s*|[-*+•‣▪–—]\s+|\(?(?:\d{1,2}[.)]|[a-zA-Z]\))\s+(?=\S))+")
_EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|~~|`)(?=\S)([^*_~`]*?[^\s*_~`])\1(?!\w)")
_LEFT_OVER = re.compile(r"[*`#~]+|(?<!\w)_+|_+(?!\w)|^\s*[-•>]+\s*")
_STARRED = re.compile(r"^\s*\*{1,3}([^*\n]{1,80})\*{1,3}\s*|(?<=[.!?…»])\s*\*{1,3}([^*\n]{1,80})\*{1,3}\s*[.…]?\s*$")
_BRACKETED = re.compile(r"^\s*\[[^\[\]]{0,80}\]\s*|(?<=[.!?…»])\s*\[[^\[\]]{0,80}\]\s*[.…]?\s*$")
_PARENTHESIS = re.compile(r"\s*\(([^()]{0,120})\)")
_QUOTED = re.compile(r"""^\s*(?:«(.*)»|“(.*)”|"([^"]*)"|‘(.*)’)\s*([.…]?)\s*$""", re.DOTALL)

# What a stage direction begins with; any other parenthesis is speech ("le loyer (charges comprises)").
_MANNER = "(?:en |avec (?:un |une )?|d' un |with (?:a )?|in a )?"
_STAGE = re.compile(
    rf"{_MANNER}"
    + one_of(
        r"sourire sourit souriante? rires? rit riant pauses? silence hoch\w+ soupir\w* regard\w* ton air voix "
        r"gestes? consult\w+ note notant attend\w* montr\w+ tend tousse réfléchi\w+ smil\w+ laugh\w* nod\w* sigh\w* "
        r"look\w* chuckl\w+ grin\w* wait\w* point\w* hands handing tone voice cough\w* warm\w* cheer\w* polite\w* "
        r"poli poliment aimable\w* chaleureu\w+ calme\w* il elle he she"
    )
    + r"\b"
)

_KEPT_SYMBOLS = "°№℃"


def clean(sentence: str) -> str:
    """Return what of ``sentence`` is speech, on one line; empty when nothing is.

    What is taken off may lay more bare (a label inside quotes), so that it is done again until nothing changes.
    """
    before, text = "", composed(sentence)
    while text != before:
        before, text = text, _cleaned(text)
    return text


def _cleaned(text: str) -> str:
    text = _TAG.sub(" ", _THOUGHT.sub(" ", text))
    text = "".join(character for character in text if _speakable(character))
    text = _LIST_MARK.sub("", _LINK.sub(r"\1", text))
    text = _BRACKETED.sub(" ", _STARRED.sub(_unstarred, text))
    text = _PARENTHESIS.sub(_unparenthesised, text)
    text = _LEFT_OVER.sub(" ", _EMPHASIS.sub(r"\2", text))
    text = unlabelled(_unquoted(text))
    text = re.sub(r"\s+([.,…)])", r"\1", " ".join(text.split()))
    return text.lstrip(" ,;:.…!?-–—") if any(map(str.isalnum, text)) else ""


def _speakable(character: str) -> bool:
    if character.isascii():
        return character >= " " or character in "\t\n"
    category = unicodedata.category(character)
    if category in ("So", "Sk"):
        return character in _KEPT_SYMBOLS
    return category not in ("Cs", "Co", "Cn", "Cc", "Cf", "Me") and character not in "\ufe0e\ufe0f"


def _unstarred(found: re.Match[str]) -> str:
    """Drop ``*sourit*`` at an edge; keep the words of ``**Prix :**`` and of a sentence in bold."""
    words = (found[1] or found[2]).strip()
    single = "**" not in found[0]
    stage = words[:1].islower() and words[-1:] not in ".!?:" and (single or _STAGE.match(fold(words)))
    return " " if stage or (single and _STAGE.match(fold(words))) else f" {words} "


def _unparenthesised(found: re.Match[str]) -> str:
    alone = not (found.string[: found.start()] + found.string[found.end() :]).strip(" .!…")
    return "" if alone or _STAGE.match(fold(found[1])) or not found[1].strip() else found[0]


def _unquoted(text: str) -> str:
    found = _QUOTED.match(text)
    if not found:
        return text
    inside = next(group for group in found.groups()[:4] if group is not None)
    return text if re.search("[«»“”]", inside) else inside.strip() + found[5]
