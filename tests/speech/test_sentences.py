from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from server.speech.sentences import MAX_CHARS, SentenceSplitter

SPLITS = [
    ("abbreviated title", "Demandez M. Dupont. Il est là.", ["Demandez M. Dupont.", "Il est là."]),
    ("title without stop", "Mme Martin arrive. Attendez.", ["Mme Martin arrive.", "Attendez."]),
    ("English titles", "Ask Mr. Smith or Dr. Jones. They know.", ["Ask Mr. Smith or Dr. Jones.", "They know."]),
    ("initial", "C'est J. Martin qui décide. Bon.", ["C'est J. Martin qui décide.", "Bon."]),
    ("n°", "Prenez le n° 3. Puis tournez.", ["Prenez le n° 3.", "Puis tournez."]),
    ("no. before a number", "Take no. 3 first. Then wait.", ["Take no. 3 first.", "Then wait."]),
    ("no as a word", "No. I can't.", ["No.", "I can't."]),
    ("etc. inside", "Du pain, du lait, etc. et puis rien. Voilà.", ["Du pain, du lait, etc. et puis rien.", "Voilà."]),
    ("etc. at the end", "Du pain, du lait, etc. Voilà.", ["Du pain, du lait, etc.", "Voilà."]),
    ("a year ends", "Elle est née le 1, 1980. Elle vit ici.", ["Elle est née le 1, 1980.", "Elle vit ici."]),
    ("decimals", "Ça coûte 3.5 euros. C'est peu.", ["Ça coûte 3.5 euros.", "C'est peu."]),
    ("times", "Le train part à 10 h 30. Soyez à l'heure.", ["Le train part à 10 h 30.", "Soyez à l'heure."]),
    ("addresses", "Allez sur club.fr pour cela. Merci.", ["Allez sur club.fr pour cela.", "Merci."]),
    ("ellipsis goes on", "Je… enfin, oui. Bon.", ["Je… enfin, oui.", "Bon."]),
    ("three dots go on", "Je... enfin, oui. Bon.", ["Je... enfin, oui.", "Bon."]),
    ("ellipsis ends", "Je ne sais pas… Peut-être.", ["Je ne sais pas…", "Peut-être."]),
    (
        "French spaces",
        "Oui ! C'est libre\u00a0! Bien\u202f? Bon ; voilà.",
        ["Oui !", "C'est libre\u00a0!", "Bien\u202f?", "Bon ; voilà."],
    ),
    ("several marks", "Vraiment ?! Oui... ! Bien.", ["Vraiment ?!", "Oui... !", "Bien."]),
    ("guillemets", "Il dit : « Venez. » Puis il part.", ["Il dit : « Venez. »", "Puis il part."]),
    ("ends inside guillemets", "« Venez demain. Merci ! » Voilà.", ["« Venez demain.", "Merci ! »", "Voilà."]),
    ("guillemets with U+00A0", "«\u00a0Venez.\u00a0» Bien.", ["«\u00a0Venez.\u00a0»", "Bien."]),
    ("straight quotes", 'He said "come." Then he left.', ['He said "come."', "Then he left."]),
    ("opening quote next", 'He left. "Wait," I said.', ["He left.", '"Wait," I said.']),
    ("new lines", "Bonjour\nVoici les prix\r\n- un", ["Bonjour", "Voici les prix", "- un"]),
    (
        "list numbers",
        "1. Le prix est bas.\n2. La salle est grande.",
        ["1. Le prix est bas.", "2. La salle est grande."],
    ),
    (
        "short parentheses",
        "Le bus (ligne 3. Arrêt Foch.) passe ici. Bon.",
        ["Le bus (ligne 3. Arrêt Foch.) passe ici.", "Bon."],
    ),
    ("parenthesis alone", "(Il sourit.) Bonjour.", ["(Il sourit.)", "Bonjour."]),
    ("a lost space", "Bonjour.Je vous écoute.", ["Bonjour.", "Je vous écoute."]),
    ("no end at all", "Bonjour à tous", ["Bonjour à tous"]),
    ("nothing", " \n \u00a0", []),
]

texts = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "M. Dupont",
                "etc.",
                "n° 3",
                "1, 1980.",
                "3.5",
                "…",
                "...",
                " ?",
                "\u00a0!",
                "« ",
                " »",
                "(",
                ")",
                "\n",
                '"',
                "’",
                "1. ",
            ]
        ),
        st.sampled_from(["Oui", "non", "le", "Bonjour", ",", ".", " ", " ", " "]),
        st.text(max_size=12),
        st.sampled_from(["a" * 350, "mot " * 90, "un, " * 100, " " * 450, "." * 320]),
    ),
    max_size=25,
).map("".join)


def split(fragments: list[str]) -> list[str]:
    splitter = SentenceSplitter()
    sentences = [sentence for fragment in fragments for sentence in splitter.feed(fragment)]
    return sentences + splitter.finish()


@pytest.mark.parametrize(("text", "sentences"), [row[1:] for row in SPLITS], ids=[row[0] for row in SPLITS])
def test_splits(text: str, sentences: list[str]) -> None:
    """Each row of the table is a rule."""
    assert split([text]) == sentences
    assert split(list(text)) == sentences


@given(texts)
@example("a" * 350 + ". B")
def test_loses_nothing(text: str) -> None:
    """What comes out, joined, is what went in, up to white space."""
    assert "".join("".join(split([text])).split()) == "".join(text.split())


@given(texts, st.data())
def test_fragments_change_nothing(text: str, data: st.DataObject) -> None:
    """However the text is cut into fragments, the sentences are the same."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    fragments = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert split(fragments) == split([text]) == split(list(text))


@given(texts)
def test_sentences_are_bounded_and_stripped(text: str) -> None:
    """No sentence is empty, longer than the cap, or begins or ends with white space."""
    assert all(0 < len(sentence) <= MAX_CHARS and sentence == sentence.strip() for sentence in split([text]))


def test_gives_a_sentence_as_soon_as_the_next_begins() -> None:
    """A sentence is there with the first letter of the next one, not at the end of the text."""
    splitter = SentenceSplitter()
    assert splitter.feed("Oui, c'est libre. ") == []
    assert splitter.feed("J") == ["Oui, c'est libre."]


def test_a_line_is_given_at_its_end() -> None:
    """A new line needs nothing after it."""
    assert SentenceSplitter().feed("Bonjour\n") == ["Bonjour"]


def test_an_endless_sentence_is_cut_after_a_comma() -> None:
    """Past the cap, the last comma of the second half is where it is cut; between words where there is none."""
    first = split(["un mot, " * 100])[0]
    assert MAX_CHARS / 2 < len(first) <= MAX_CHARS
    assert first.endswith("mot,")
    assert set(split(["mot " * 200])[0].split()) == {"mot"}


def test_finish_leaves_it_as_new() -> None:
    """What was finished does not come back."""
    splitter = SentenceSplitter()
    splitter.feed("Bonjour")
    assert splitter.finish() == ["Bonjour"]
    assert splitter.finish() == []
