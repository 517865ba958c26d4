"""Where a text is cut for speech."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.worker.clauses import FIRST_CHARS, MAX_CHARS, clauses


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("Bonjour.", ["Bonjour."]),
        ("Oui, bien sûr. Et vous ?", ["Oui, bien sûr.", "Et vous ?"]),
        ("Cela coûte 12,50 euros en tout.", ["Cela coûte 12,50 euros en tout."]),
        ("Je pars à 14:30 demain matin.", ["Je pars à 14:30 demain matin."]),
        ("Il a dit « peut-être ! » Puis il est parti.", ["Il a dit « peut-être ! »", "Puis il est parti."]),
        ("Une phrase sans fin", ["Une phrase sans fin"]),
        (f"{'a' * 20}. {'b' * 47}, {'c' * 80}.", [f"{'a' * 20}.", f"{'b' * 47},", f"{'c' * 80}."]),
        (f"Oui, {'c' * 120}.", [f"Oui, {'c' * 120}."]),
    ],
)
def test_a_text_is_cut_after_its_marks(text: str, pieces: list[str]) -> None:
    """The first piece is short, a mark inside a number is none, a closing quote stays with its sentence."""
    assert list(clauses(text)) == pieces


@given(st.text())
def test_nothing_is_dropped_or_added(text: str) -> None:
    """The pieces hold every character but white space, in order."""
    assert "".join("".join(clauses(text)).split()) == "".join(text.split())


@given(st.text(alphabet="ab .,!»\n", max_size=2_000))
def test_no_piece_is_longer_than_the_bound(text: str) -> None:
    """A piece stays well under the 510 phonemes that Kokoro takes, and is never empty."""
    assert all(0 < len(piece) <= MAX_CHARS for piece in clauses(text))


@given(st.text(alphabet="ab .,", max_size=500))
def test_only_the_last_piece_may_be_short(text: str) -> None:
    """A scrap like "Oui," is joined to what follows, unless that would be too long."""
    pieces = list(clauses(text))
    for piece, after in pairwise(pieces):
        assert len(piece) >= FIRST_CHARS or len(piece) + 1 + len(after) > MAX_CHARS
