"""What the LLM is sent from one turn to the next: the same bytes and more, so that its server's cache serves."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from server.exam.dialogue import Dialogue
from server.exam.prompts_t2 import Subject, roleplay_prompts
from server.exam.spoken import Spoken

TURNS = 40
SUBJECT = Subject("Agent d'une agence de voyages", "Le client veut partir en week-end.", "Renseignez-vous.")
WORDS = st.text(alphabet="abcdefghij é’\n", min_size=1, max_size=300)


class Talk:
    """A role-play turn by turn, and the messages that the LLM was sent for each."""

    def __init__(self, budget_chars: int) -> None:
        self.dialogue = Dialogue("fr")
        self.budget_chars = budget_chars
        self.sent: list[list[str]] = []

    def turn(self, question: str, answer: str, heard: float) -> None:
        """Ask, be answered, and hear a part of the answer, 0 to 1."""
        number = len(self.sent)
        self.dialogue.hear(number, question)
        history = self.dialogue.history(self.budget_chars)
        prompt, _ = roleplay_prompts("fr", SUBJECT, history)
        self.sent.append([json.dumps(message, ensure_ascii=False) for message in prompt.messages])
        spoken = Spoken(number, [(answer, 10_000)])
        self.dialogue.say(spoken, keep_place=False)
        spoken.play(round(10_000 * heard), complete=heard == 1)

    def cuts(self) -> list[int]:
        """Return the turns whose messages do not begin with those of the turn before."""
        pairs = zip(self.sent, self.sent[1:], strict=False)
        return [n for n, (before, after) in enumerate(pairs, 1) if after[: len(before)] != before]


def test_forty_turns_are_cut_at_blocks_alone() -> None:
    """Messages of 110 characters, 6,000 in all: 26 turns until the first cut, and nothing else ever differs."""
    talk = Talk(6_000)
    for n in range(TURNS):
        talk.turn(f"Question {n} : " + "combien cela coûte-t-il ? " * 4, f"Réponse {n} : " + "c'est ouvert. " * 7, 1)
    assert talk.cuts() == [26]
    kept = sum(map(len, talk.sent[26][1:]))
    assert 2_000 < kept < 3_600, "expected half of the budget to be left, in one block"
    assert all(messages[0] == talk.sent[0][0] for messages in talk.sent), "the system message never changes"


@given(st.lists(st.tuples(WORDS, WORDS, st.sampled_from([0, 0.3, 1])), min_size=TURNS, max_size=TURNS))
@settings(max_examples=50, deadline=None)
def test_whatever_is_said_a_cut_frees_half_of_the_budget(turns: list[tuple[str, str, float]]) -> None:
    """Any lengths, answers that were cut off or not heard at all: between two cuts there is half a budget of talk.

    An answer that nobody heard lets the next question join the last one's message: that message grows.
    """
    budget = 2_000
    talk = Talk(budget)
    for question, answer, heard in turns:
        talk.turn(question.replace("\n", "") + "x", answer.replace("\n", "") + "x", heard)
    said = 0
    for before, after in zip(talk.sent, talk.sent[1:], strict=False):
        grown = (
            json.loads(after[len(before) - 1])[1].startswith(json.loads(before[-1])[1])
            if len(after) >= len(before)
            else False
        )
        if after[: len(before) - 1] == before[:-1] and grown:
            said += sum(map(len, after)) - sum(map(len, before))
        else:
            assert said > budget // 4, "cut again after too little talk"
            said = 0
