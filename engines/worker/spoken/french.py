"""What espeak-ng reads wrongly in French text, or skips."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from engines.worker.spoken import french_numbers as numbers

_Rules = tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]

_DOLLAR = r"CA\$|C\$|US\$|\$ ?C(?:AD?)?(?!\w)|\$ ?US(?!\w)|\$|€|£|(?:CAD|USD|EUR)(?!\w)"
_PER = r"jour|mois|ans?|année|semaine|personne|nuit|heure|séance|minute|seconde|kg|kilo"
_FEMININE_NOUN = r"(?:heure|minute|seconde|semaine|année|journée|fois|personne|question|page|tonne|livre|réponse)s?\b"

_CODES: Final[_Rules] = (
    (r"(?<![\w-])(?:\+?1[ .-])?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])", numbers.said_phone),
    (r"(?<!\d)0\d(?:[.-]\d\d){4}(?!\d)", lambda found: re.sub(r"[.-]", " ", found[0])),
    (r"\b([A-Z]\d[A-Z])[ -]?(\d[A-Z]\d)\b", numbers.said_postcode),
    (r"(?<![\d,])\d{1,3}(?: \d{3})+(?!\d)", lambda found: found[0].replace(" ", "")),
)
_TIMES: Final[_Rules] = (
    (r"(?<![\d/.-])(?P<day>\d\d?)([/.-])(?P<month>\d\d?)\2(?P<year>\d{4})(?!\d|[/.-]\d)", numbers.said_date),
    (r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d|-\d)", numbers.said_date),
    (r"\b(24) ?h ?/ ?24\b", r"24 heures sur 24"),
    (r"\b(7) ?j ?/ ?7\b", r"7 jours sur 7"),
    (r"(?<![\d-])(\d+)[-–—](?!0\d)(\d+)(?!\d|-\d)", r"\1 à \2"),
    (r"(?<=\d[h%€$])[-–—](?=\d)", " à "),
    (r"(?<![\d:.,])(\d{1,3}) ?h(?: ?([0-5]\d))?(?!\w)", numbers.said_time),
    (r"(?<![\d:.,])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])", numbers.said_time),
)
_ORDINALS: Final[_Rules] = (
    (r"\b(?:1(?:re|ère|ere|e)|Ire)(s?)\b", r"première\1"),
    (r"\bIer\b", "premier"),
    (r"\b2nde\b", "seconde"),
    (r"\b2nd\b", "second"),
    (r"\b([1-9]\d{0,3})(?:e|ème|eme|è|ième)(?=s?\b)", numbers.said_ordinal),
    (r"\b([IVX]{1,6})(?:e|ème)(?=s?\b)", numbers.said_ordinal),
    (r"\b[IVX]{2,6}\b", numbers.said_roman),
    (r"(?<=\bCharles )[VX]\b", numbers.said_roman),
)
_ABBREVIATIONS: Final[_Rules] = (
    (r"\bM\.(?= (?:[A-ZÀ-Ý]|l[ea] |l'|de |du ))", "monsieur"),
    (r"\bMM\.(?= [A-ZÀ-Ý])", "messieurs"),
    (r"\bMr\b\.?", "monsieur"),
    (r"\bMlle(s?)\b\.?", r"mademoiselle\1"),
    (r"\bMmes\b\.?", "mesdames"),
    (r"\bMme\b\.?", "madame"),
    (r"\bDr\b\.?", "docteur"),
    (r"\bPr\b\.?(?= [A-ZÀ-Ý])", "professeur"),
    (r"(?:\b[nN][°ºo]|№) ?(?=\d)", "numéro "),
    (r"\bp\. ?ex\.", "par exemple"),
    (r"\bc\.-?à-d\.|\bc-à-d\b\.?|\bcàd\b", "c'est-à-dire"),
    (r"\bav\. J\.-C\.", "avant Jésus-Christ"),
    (r"\bapr?\. J\.-C\.", "après Jésus-Christ"),
    (r"\b[Aa]v\.(?= )", "avenue"),
    (r"\b(?:[Bb]oul\.|[Bb]l?v?d\b\.?)", "boulevard"),
    (r"\bapp\. ?(?=\d)", "appartement "),
    (r"\b([Tt])él\.", r"\1éléphone"),
    (r"\benv\.", "environ"),
    (r"\bpp?\. ?(?=\d)", "page "),
    (r"\bart\. ?(?=\d)", "article "),
    (r"\bcf\b\.?", "voir"),
    (r"\bvs\b\.?", "versus"),
    (r"\bqqn\b", "quelqu'un"),
    (r"\bqqch\b\.?", "quelque chose"),
    (r"\b(?:RDV|rdv|R\.-V\.)", "rendez-vous"),
    (r"(?<![\w.])(?:[A-Z]\.){2,9}", lambda found: found[0].replace(".", "")),
)
_RESPELT: Final[_Rules] = (
    (r"\bfils\b", "fiss"),  # "vos fils" is read as threads
    (r"\b(IA|IRCC|CO2)\b", lambda found: " ".join(found[0])),  # read as the words "ya", "irk", "co"
    (r"\bC[EÉ]GEP\b|\bcegep\b", "cégep"),
    (r"\b([Ee])-mail", r"\1mail"),
    (r"\bAirbnb\b", "Air B N B"),
)
_PRICES: Final[_Rules] = (
    (r"(?<!\d)(?<!\d )(CA|C|US|)([$€£]) ?(\d+(?:[,.]\d+)?)", r"\3 \2\1"),
    (r"(?<=\d) ?k ?(?=[€$])", " mille "),
    (r"(?<=\d) ?M ?(?=[€$])", " millions "),
    (r"\b(m(?:illion|illiard)s?) (?:de |d')?€", r"\1 d'euros"),
    (r"\b(m(?:illion|illiard)s?) (?:de )?\$", r"\1 de dollars"),
    (rf"(?<!\d)(?P<whole>\d+)(?:[,.](?P<part>\d+))? ?(?P<currency>{_DOLLAR})", numbers.said_price),
    (r" ?€", " euros"),
    (r"(?<=\d) ?cents?\b", " ¢"),  # the coin, which is not said as the number is
)
_MEASURES: Final[_Rules] = (
    (rf"(?<!\d)(?P<number>(?P<whole>\d+)(?:,\d+)?) ?(?P<unit>{numbers.UNIT})(?![\w²³])", numbers.said_unit),
    (rf"(?<=[a-zé]) ?/ ?(?=(?:{_PER})\b)", " par "),
    (r"(?<=[a-zé])/h\b", " par heure"),
    (r"(?<=[a-zé])/j\b", " par jour"),
    (rf"(?<![\d,])[2-6]?1(?= {_FEMININE_NOUN})", numbers.said_feminine),
    (r"(?<![\d,])[2-6]?1(?= (?:ans?|euros?)\b)", numbers.said_linked),
    (r"(?<![\d,])[1-6]?9(?= (?:ans|heures)\b)", numbers.said_linked),
    (r"(?<![\d/,.])(\d+) ?/ ?(\d{1,3}(?:,\d+)?)(?!\d|/|[.,]\d)", numbers.said_fraction),
    (r"(?<=\d) ?/ ?(?=\d{1,3}(?!\d))", " sur "),
    (r"(?<=\w)[⁴-⁹]", lambda found: f" puissance {unicodedata.digit(found[0])}"),
)
_SIGNS: Final[_Rules] = (
    (r"(?<![^\s(«])[-–](?=\d)", "moins "),
    (r"(?<=\d) ?[x×] ?(?=\d)", " fois "),
    (r" ?× ?", " fois "),
    (r" ?÷ ?", " divisé par "),
    (r" ?=+ ?", " égale "),
    (r" ?(?:≤|<=) ?", " inférieur ou égal à "),
    (r" ?(?:≥|>=) ?", " supérieur ou égal à "),
    (r"(?<=\w) ?< ?(?=\w)", " inférieur à "),
    (r"(?<=\w) ?> ?(?=\w)", " supérieur à "),
    (r"(?:≈|~(?=\d)) ?", "environ "),
    (r"§+ ?", "paragraphe "),
    (r" ?‰", " pour mille"),
)

FRENCH: Final[_Rules] = (
    *_CODES, *_TIMES, *_ORDINALS, *_ABBREVIATIONS, *_RESPELT, *_PRICES, *_MEASURES, *_SIGNS,
)  # fmt: skip
"""Pattern and words; the order is the order of use."""
