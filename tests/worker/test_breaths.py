"""Where a voice may pause, and where it never does."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engines.worker.breaths import breaths
from engines.worker.clauses import BREATH_CHARS, FIRST_CHARS, JOINED_CHARS, OPENING_CHARS, SECOND_CHARS, clauses
from engines.worker.spoken import speakable
from server.bench.texts import texts_to_speak


def parted(text: str, language: str) -> str:
    """The text with a bar at every breath."""
    places = list(breaths(text, language))
    return "|".join(text[start:end] for start, end in pairwise([0, *places, len(text)]))


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("fr", "Le prochain bus part |dans vingt minutes de la place"),
        ("fr", "Nous avons une chambre |qui donne |sur le jardin |et que vous pouvez visiter"),
        ("fr", "Le cours a lieu le mardi |pour les débutants |parce qu'ils sont nombreux"),
        ("fr", "Elle dit |qu'elle viendra |avec sa mère |quand il fera beau"),
        ("en", "The bus leaves |in twenty minutes |from the square behind the station"),
        ("en", "There is one room |that looks over the garden |and costs less"),
    ],
)
def test_a_voice_may_pause_before_a_new_part_of_the_sentence(language: str, expected: str) -> None:
    """Before conjunctions, relative pronouns and prepositions that open a group of words."""
    assert parted(expected.replace("|", ""), language) == expected


@pytest.mark.parametrize(
    ("language", "whole"),
    [
        ("fr", "deux heures et demie"),
        ("fr", "soixante et onze euros"),
        ("fr", "trois ou quatre personnes"),
        ("fr", "entre 10 et 12 heures"),
        ("fr", "Bed et Breakfast"),
        ("fr", "le car rouge"),
        ("fr", "un comme celui-là"),
        ("fr", "très en avance"),
        ("fr", "monsieur et madame Roy"),
        ("en", "a hundred and ten people"),
        ("en", "two and a half hours"),
        ("en", "the Bed and Breakfast"),
        ("en", "five or six people"),
        ("en", "my in laws"),
        ("it", "la casa con il giardino"),
    ],
)
def test_no_pause_inside_a_number_or_a_name_or_after_an_article(language: str, whole: str) -> None:
    """What belongs together is said together; of other languages nothing is known."""
    assert parted(whole, language) == whole


@pytest.mark.parametrize(("language", "voice"), [("fr", "fr-fr"), ("en", "en-us")])
def test_each_piece_is_ready_before_the_one_before_it_has_been_heard(language: str, voice: str) -> None:
    """A piece is at most twice as long as the one before wherever a mark or a breath lets it be."""
    for text in texts_to_speak(language):
        pieces = list(clauses(speakable(text, voice), voice))
        for before, piece in pairwise(pieces):
            limit = min(max(2 * len(before), SECOND_CHARS), JOINED_CHARS)
            assert len(piece) <= limit or not _parts(piece, voice, limit)


@pytest.mark.parametrize(("language", "voice"), [("fr", "fr-fr"), ("en", "en-us")])
def test_the_first_piece_is_short_wherever_a_voice_may_pause(language: str, voice: str) -> None:
    """Of fifty texts, few begin with a stretch in which there is no place."""
    firsts = [next(clauses(speakable(text, voice), voice)) for text in texts_to_speak(language)]
    assert all(len(first) <= OPENING_CHARS or not _parts(first, voice, OPENING_CHARS) for first in firsts)
    assert sum(len(first) > OPENING_CHARS for first in firsts) <= len(firsts) // 4


def _parts(piece: str, voice: str, limit: int) -> list[str]:
    """What a piece could have been cut to, within its limit."""
    ends = [at + 1 for at, mark in enumerate(piece[:-1]) if mark in ".!?…;:," and piece[at + 1] == " "]
    marked = [piece[:end] for end in ends if FIRST_CHARS <= end <= limit]
    mark = min([*ends, len(piece)])
    breathed = [piece[:at] for at in breaths(piece[:mark], voice) if BREATH_CHARS < at <= mark - BREATH_CHARS]
    return [part for part in [*marked, *breathed] if len(part) <= limit]
