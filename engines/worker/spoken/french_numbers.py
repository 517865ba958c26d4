"""Numbers of French text that are more than digits: ordinals, dates, hours, prices, measures."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_ORDINALS: Final = (
    "", "unième", "deuxième", "troisième", "quatrième", "cinquième", "sixième", "septième", "huitième", "neuvième",
    "dixième", "onzième", "douzième", "treizième", "quatorzième", "quinzième", "seizième", "dix-septième",
    "dix-huitième", "dix-neuvième",
)  # fmt: skip
_TENS: Final = {20: "vingt", 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante"}
_MONTHS: Final = (
    "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
    "décembre",
)  # fmt: skip
_ROMAN: Final = {"I": 1, "V": 5, "X": 10}
_ROMAN_NUMBER = re.compile(r"X{0,3}(?:IX|IV|V?I{0,3})")
_FRACTIONS: Final = {"1/2": "un demi", "1/3": "un tiers", "2/3": "deux tiers", "1/4": "un quart", "3/4": "trois quarts"}
_MONEY: Final = {"€": "euro", "EUR": "euro", "£": "livre"}
_UNITS: Final = {
    "km/h": "kilomètre* à l'heure", "m/s": "mètre* par seconde", "km²": "kilomètre* carré*", "m²": "mètre* carré*",
    "cm²": "centimètre* carré*", "m³": "mètre* cube*", "km2": "kilomètre* carré*", "m2": "mètre* carré*",
    "m3": "mètre* cube*", "m": "mètre*", "°C": "degré* Celsius", "°F": "degré* Fahrenheit", "g": "gramme*",
    "l": "litre*", "L": "litre*", "ml": "millilitre*", "mL": "millilitre*", "cl": "centilitre*", "t": "tonne*",
    "min": "minute*", "s": "seconde*", "j": "jour*", "ha": "hectare*", "Mo": "mégaoctet*", "Go": "gigaoctet*",
    "kW": "kilowatt*", "kWh": "kilowatt-heure", "W": "watt*", "lb": "livre*", "lbs": "livre*",
}  # fmt: skip
"""Read letter by letter by espeak-ng, or as something else; kg, km and cm it knows. A star is the plural's s."""

UNIT: Final = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))


def ordinal(number: int) -> str:
    """Return ``number`` (at least 1) as an ordinal of either gender: 21 is "vingt et unième".

    From 80 on the tens stay digits: espeak-ng speaks a t in "quatre-vingt-deux", and none in "80".
    """
    if number < len(_ORDINALS):
        return _ORDINALS[number] if number > 1 else "premier"
    hundreds, rest = number // 100 * 100, number % 100
    if hundreds:
        return f"{hundreds} {_small_ordinal(rest)}" if rest else _round_ordinal(number)
    return _small_ordinal(rest)


def _small_ordinal(number: int) -> str:
    if number < len(_ORDINALS):
        return _ORDINALS[number]
    ten = number // 10 * 10 if number < 70 else number // 20 * 20
    unit = number - ten
    if ten == 80:
        return f"80 {_ORDINALS[unit]}" if unit else "quatre-vingtième"
    if not unit:
        return f"{_TENS[ten].removesuffix('e')}ième"
    return f"{_TENS[ten]} et {_ORDINALS[unit]}" if unit in {1, 11} else f"{_TENS[ten]}-{_ORDINALS[unit]}"


def _round_ordinal(number: int) -> str:
    unit, name = (1000, "millième") if number % 1000 == 0 else (100, "centième")
    return name if number == unit else f"{number // unit} {name}"


def said_ordinal(found: re.Match[str]) -> str:
    """ "2e", "XXIe" and the like; a Roman number that is none stays."""
    number = int(found[1]) if found[1].isdecimal() else roman(found[1])
    return ordinal(number) if number else found[0]


def roman(letters: str) -> int:
    """Return the value of a Roman number up to 39, and 0 for what is none."""
    if not _ROMAN_NUMBER.fullmatch(letters):
        return 0
    values = [_ROMAN[letter] for letter in letters] + [0]
    return sum(-one if one < following else one for one, following in pairwise(values))


def said_roman(found: re.Match[str]) -> str:
    """ "XIV" as "14"; espeak-ng would add "romain"."""
    return str(roman(found[0]) or found[0])


def said_date(found: re.Match[str]) -> str:
    """Day, month and year, "12/07/2026" as "12 juillet 2026"; what is no date stays."""
    day, month = int(found["day"]), int(found["month"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return found[0]
    return f"{'1er' if day == 1 else day} {_MONTHS[month - 1]} {found['year']}"


def said_time(found: re.Match[str]) -> str:
    """ "14h30" as "14 heures 30"."""
    hour, minute = int(found[1]), int(found[2] or 0)
    hours = f"{hour} heure{'s' * (hour > 1)}"
    return f"{hours} {minute}" if minute else hours


def said_linked(found: re.Match[str]) -> str:
    """A number that ends with 1 or 9, below 70, in words: espeak-ng links "neuf ans" as it should, but not "9 ans"."""
    ten, unit = divmod(int(found[0]), 10)
    ones = "un" if unit == 1 else "neuf"
    if ten < 2:
        return f"dix-{ones}" if ten else ones
    return f"{_TENS[ten * 10]} et {ones}" if unit == 1 else f"{_TENS[ten * 10]}-{ones}"


def said_feminine(found: re.Match[str]) -> str:
    """ "1" and "21" before a feminine noun, "une" and "vingt et une"."""
    return f"{said_linked(found)}e"


def said_price(found: re.Match[str]) -> str:
    """ "12,50 €" as "12 euros 50", "20 $ CA" as "20 dollars canadiens"."""
    whole, part, currency = found["whole"], found["part"] or "", found["currency"]
    country = "canadien" if "C" in currency else "américain" if "US" in currency else ""
    plural = "s" * (int(whole[-9:]) > 1 or len(whole) > 9)
    name = f"{_MONEY.get(currency, 'dollar')}{plural}"
    if country:
        return f"{whole}{',' if part else ''}{part} {name} {country}{plural}"
    if len(part) == 2:
        return f"{whole} {name} {part}" if part.strip("0") else f"{whole} {name}"
    return f"{whole}{',' if part else ''}{part} {name}"


def said_unit(found: re.Match[str]) -> str:
    """ "45 m²" as "45 mètres carrés"; singular below two, as in French."""
    plural = "s" * (int(found["whole"][-9:]) > 1)
    return f"{found['number']} {_UNITS[found['unit']].replace('*', plural)}"


def said_fraction(found: re.Match[str]) -> str:
    """ "3/4" as "trois quarts", any other as "15 sur 20"."""
    return _FRACTIONS.get(found[0]) or f"{found[1]} sur {found[2]}"


def said_phone(found: re.Match[str]) -> str:
    """ "514-555-0123" as "514, 555, 01 23"; one digit after the other runs together in Kokoro's speech."""
    *first, last = re.findall(r"\d+", found[0])
    groups = ", ".join((*first, f"{last[:2]} {last[2:]}"))
    return f"plus {groups}" if found[0].startswith("+") else groups


def said_postcode(found: re.Match[str]) -> str:
    """ "H2X 1Y4" letter by letter; espeak-ng says i for a Y that stands alone."""
    first, second = (" ".join(found[half]).replace("Y", "i grec") for half in (1, 2))
    return f"{first}, {second}"
