"""The two prompts: apart, short, and stable from request to request."""

from __future__ import annotations

from typing import Any

import pytest

from server.exam.prompts_t1 import HEARD_CHARS, interview_prompts
from server.exam.prompts_t2 import Subject, roleplay_prompts

SUBJECT = Subject("agent d'une agence de voyages", "Une cliente veut partir en Bretagne.", "Renseignez-vous.")
HISTORY = (("user", "C'est combien ?"),)


@pytest.fixture(params=["fr", "en"])
def language(request: pytest.FixtureRequest) -> Any:
    """Both languages."""
    return request.param


def lines(prompts: Any) -> set[str]:
    return {line for prompt in prompts for _, text in prompt.messages for line in text.splitlines() if line.strip()}


def test_the_two_tasks_share_no_line(language: Any) -> None:
    """A rule of one never leaks into the other."""
    t1 = lines(interview_prompts(language, "Je suis cuisinier.", ["Et depuis quand ?"]))
    t2 = lines(roleplay_prompts(language, SUBJECT, HISTORY))
    assert t1
    assert t2
    assert not t1 & t2


def test_both_requests_share_all_but_the_last_message(language: Any) -> None:
    """What was read for the first is in the LLM's cache for the second."""
    for first, second in (
        interview_prompts(language, "Je suis cuisinier.", []),
        roleplay_prompts(language, SUBJECT, HISTORY),
    ):
        assert second.messages[:-1] == first.messages[:-1]
        assert second.messages[-1][1].startswith(first.messages[-1][1] + "\n")
        assert second.temperature > first.temperature


def test_roles_alternate_and_the_candidate_has_the_last_word(language: Any) -> None:
    """System first, then user and assistant in turn: what every chat template takes."""
    history = (("user", "Bonjour"), ("assistant", "Bonjour."), ("user", "C'est combien ?"))
    for prompts in (interview_prompts(language, "Bonjour", []), roleplay_prompts(language, SUBJECT, history)):
        roles = [role for role, _ in prompts[0].messages]
        assert roles == ["system", *(["user", "assistant"] * len(roles))[: len(roles) - 1]]
        assert roles[-1] == "user"


def test_the_relance_reads_the_end_of_a_long_monologue(language: Any) -> None:
    """A bounded number of characters, from its end, at whole words."""
    (prompt, _) = interview_prompts(language, "mot " * 2_000 + "fin", [])
    words = prompt.messages[-1][1]
    assert len(words) <= HEARD_CHARS
    assert words.endswith("mot fin")
    assert words.startswith("mot ")


def test_a_relance_that_was_heard_is_told_to_the_next(language: Any) -> None:
    """So that it is not asked twice."""
    (prompt, _) = interview_prompts(language, "Je suis cuisinier.", ["Et depuis quand ?"])
    assert "Et depuis quand ?" in prompt.messages[-1][1]


def test_the_role_and_its_context_make_the_system_message(language: Any) -> None:
    """Built from the subject; what is empty leaves no line."""
    (prompt, _) = roleplay_prompts(language, SUBJECT, HISTORY)
    system = prompt.messages[0][1]
    assert SUBJECT.role in system
    assert SUBJECT.contexte in system
    assert SUBJECT.consigne in system
    (bare, _) = roleplay_prompts(language, Subject("vendeur.", "Un magasin."), HISTORY)
    assert len(bare.messages[0][1].splitlines()) == len(system.splitlines()) - 1
    assert "vendeur.\n" in bare.messages[0][1]


def test_braces_in_a_subject_are_only_text(language: Any) -> None:
    """A subject comes from a database."""
    (prompt, _) = roleplay_prompts(language, Subject("{role}", "{0}{contexte}", "{}"), HISTORY)
    assert "{0}{contexte}" in prompt.messages[0][1]


def test_the_prompts_are_short(language: Any) -> None:
    """A CPU reads them: about 300 and 250 tokens before the first word that was heard."""
    (t1, _) = interview_prompts(language, "", [])
    (t2, _) = roleplay_prompts(language, Subject("", ""), HISTORY)
    assert sum(len(text) for _, text in t1.messages) < 1_100
    assert sum(len(text) for _, text in t2.messages) < 800
