"""What espeak-ng reads wrongly in English text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_MONEY: Final = {"$": "dollar", "€": "euro", "£": "pound"}


def _price(found: re.Match[str]) -> str:
    whole, part = found["whole"], found["part"] or ""
    name = _MONEY[found["currency"]] + ("" if whole == "1" else "s")
    return f"{whole} {name}" + (f" {part}" if part.strip("0") else "")


ENGLISH: Final[tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]] = (
    (r"(?<![\w-])\(?(\d{3})\)?[ .-](\d{3})[ .-](\d{4})(?![\w-])", lambda m: ", ".join(map(" ".join, m.groups()))),
    (r"\bNo\. ?(?=\d)", "number "),
    (r"\be\.g\.", "for example"),
    (r"\bi\.e\.", "that is"),
    (r"\bvs\b\.?", "versus"),
    (r"\bProf\.(?= [A-Z])", "Professor"),
    (r"\b(Dr|Mr|Mrs|Ms|St)\.(?= ?[A-Z])", r"\1"),
    (r"\bCO2\b", "C O 2"),
    (r"(?P<currency>[$€£]) ?(?P<whole>\d+(?:,\d{3})*)(?:\.(?P<part>\d\d)(?!\d))?(?![.,]?\d)", _price),
    (r"(?<=\d)(?<!\d\d\d):00 ?(?=[ap]\.?m)", " "),
    (r"\b(1?\d|2[0-4]):00\b(?!:)", r"\1 o'clock"),
    (r"\b(1?\d|2[0-4]):0(\d)\b(?!:)", r"\1 oh \2"),
    (r"\b24/7\b", "24 7"),
    (r"(?<![\d/])1/2(?![\d/])", "one half"),
    (r"(?<![\w-])(\d+)[-–](?!0\d)(\d+)(?!\d|-\d)", r"\1 to \2"),
    (r"(?<=\d) ?km/h\b", " kilometres per hour"),
    (r"(?<=\d) ?m[²2]", " square metres"),
    (r"(?<=\d) ?kg\b", " kilograms"),
    (r"(?<=\d) ?km\b", " kilometres"),
    (r"(?<=\d) ?°C\b", " degrees Celsius"),
    (r"(?<=\d) ?°F\b", " degrees Fahrenheit"),
)
"""Pattern and words; the order is the order of use."""
