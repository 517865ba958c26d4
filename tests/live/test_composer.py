"""The LLM's words become the sentences to speak: split, screened, asked for again, and never nothing."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import aclosing
from types import ModuleType
from typing import Any

import pytest

from engines.errors import EngineError, EngineTimeout, EngineUnavailable
from server.exam.brief import Prompt, ReplyBrief, Screen
from server.live.composer import Composer
from server.live.stages import Stages
from server.speech.sentences import SentenceSplitter

FIRST = Prompt((("system", "Soyez bref."), ("user", "Bonjour.")), 40)
SECOND = Prompt((("system", "Soyez bref."), ("user", "Bonjour. Encore.")), 40)
FALLBACK = "Je vous écoute."


class WithoutQuestions:
    """A screen that lets statements pass, and tells at the end that it is at its end."""

    def __init__(self, farewell: str = "") -> None:
        self._farewell = farewell

    def feed(self, sentence: str) -> list[str]:
        return [] if sentence.endswith("?") else [sentence]

    def finish(self) -> list[str]:
        return [self._farewell] if self._farewell else []


class Desk:
    """A composer over a scripted model."""

    def __init__(self, fakes: ModuleType, *answers: Any) -> None:
        self.llm = fakes.ScriptedModel(deque(answers))
        self.stages = Stages(lambda: asyncio.get_running_loop().time(), lambda stage, seconds: None)
        self._composer = Composer(self.llm, SentenceSplitter, timeout_s=10.0)

    def compose(self, *prompts: Prompt, screen: Callable[[], Screen] = WithoutQuestions) -> Any:
        return aclosing(self._composer.sentences(ReplyBrief(prompts, screen, FALLBACK), self.stages))

    async def all(self, *prompts: Prompt, screen: Callable[[], Screen] = WithoutQuestions) -> list[str]:
        async with self.compose(*prompts, screen=screen) as sentences:
            return [sentence async for sentence in sentences]


async def test_a_model_that_fails_before_a_word_is_a_failure(fakes: ModuleType) -> None:
    """Nothing may be said yet, so the failure is told; the second prompt is for bad words, not for a lost engine."""
    desk = Desk(fakes, EngineUnavailable("llm", "refused"))
    with pytest.raises(EngineUnavailable):
        await desk.all(FIRST, SECOND)
    assert len(desk.llm.requests) == 1


async def test_a_model_that_says_nothing_in_time_is_a_failure(fakes: ModuleType) -> None:
    """The model is given the reply's deadline, and its passing is told."""
    desk = Desk(fakes, fakes.NEVER)
    with pytest.raises(EngineTimeout):
        await desk.all(FIRST)
    assert asyncio.get_running_loop().time() == pytest.approx(10.0, abs=0.01)


async def test_a_failure_when_nothing_passed_the_screen_is_a_failure(fakes: ModuleType) -> None:
    """What was screened out was not said: the answer has not begun."""
    desk = Desk(fakes, ("Quel âge avez-vous ? Et", EngineUnavailable("llm", "reset")))
    with pytest.raises(EngineUnavailable):
        await desk.all(FIRST, SECOND)


async def test_an_answer_that_breaks_off_ends_with_its_last_whole_sentence(fakes: ModuleType) -> None:
    """Once a sentence was given, a failure ends the answer: nothing is asked again, half a sentence is not said."""
    desk = Desk(fakes, ("Bonjour madame. Nous avons deux chambres", EngineUnavailable("llm", "reset")))
    assert await desk.all(FIRST, SECOND) == ["Bonjour madame."]
    assert len(desk.llm.requests) == 1


async def test_without_a_prompt_the_fallback_is_said(fakes: ModuleType) -> None:
    """A brief from the bank asks no model."""
    desk = Desk(fakes)
    assert await desk.all() == [FALLBACK]
    assert desk.llm.requests == []


async def test_the_second_prompt_is_asked_when_nothing_is_left_of_the_first(fakes: ModuleType) -> None:
    """One more try, in the second prompt's words."""
    desk = Desk(fakes, "Que voulez-vous ?", "La chambre est à cent euros.")
    assert await desk.all(FIRST, SECOND) == ["La chambre est à cent euros."]
    assert [request[-1][1] for request in desk.llm.requests] == ["Bonjour.", "Bonjour. Encore."]


async def test_the_fallback_is_said_when_nothing_is_left_of_any(fakes: ModuleType) -> None:
    """After the last prompt there is the bank: an answer is never empty."""
    desk = Desk(fakes, "Que voulez-vous ?", "Et quand ?")
    assert await desk.all(FIRST, SECOND) == [FALLBACK]


async def test_an_unended_rest_is_the_screens_to_judge(fakes: ModuleType) -> None:
    """The token limit may cut an answer: its last sentence goes to the screen as it stands, like any other."""
    desk = Desk(fakes, "Bien sûr. La chambre donne sur")
    assert await desk.all(FIRST) == ["Bien sûr.", "La chambre donne sur"]


async def test_an_answer_that_is_one_unended_sentence_is_said(fakes: ModuleType) -> None:
    """Small models forget the full stop: a lone sentence without it is the whole answer."""
    assert await Desk(fakes, "La chambre donne sur le jardin").all(FIRST) == ["La chambre donne sur le jardin"]


async def test_what_the_screen_held_back_is_said_at_the_end(fakes: ModuleType) -> None:
    """A screen may decide only once the answer is over."""
    desk = Desk(fakes, "Très bien.")
    assert await desk.all(FIRST, screen=lambda: WithoutQuestions("Voilà.")) == ["Très bien.", "Voilà."]


async def test_each_answer_has_a_screen_of_its_own(fakes: ModuleType) -> None:
    """A screen serves one answer: the second try begins with a fresh one."""
    made = []

    def screen() -> Screen:
        made.append(WithoutQuestions())
        return made[-1]

    await Desk(fakes, "Que voulez-vous ?", "Bien.").all(FIRST, SECOND, screen=screen)
    assert len(made) == 2


async def test_a_sentence_is_given_before_the_answer_is_over(fakes: ModuleType) -> None:
    """Speech begins with the first sentence, while the model is still at work."""
    desk = Desk(fakes, "Bonjour madame. " + "Nous avons beaucoup de chambres. " * 5)
    async with desk.compose(FIRST) as sentences:
        assert await anext(sentences) == "Bonjour madame."
        assert desk.llm.unfinished == 1


async def test_leaving_an_answer_ends_the_request_there(fakes: ModuleType) -> None:
    """When the sentences are closed, the model's stream is closed with them, before closing returns."""
    desk = Desk(fakes, "Bonjour madame. " + "Nous avons beaucoup de chambres. " * 5)
    async with desk.compose(FIRST) as sentences:
        await anext(sentences)
    assert desk.llm.unfinished == 0


async def test_tokens_and_times_are_counted(fakes: ModuleType) -> None:
    """Every request's tokens are added up, and its times to the first token and to the end are kept."""
    desk = Desk(fakes, "Que voulez-vous ?", "Bien sûr.")
    await desk.all(FIRST, SECOND)
    assert (desk.stages.tokens_in, desk.stages.tokens_out) == (200, 5)
    assert desk.stages.latency()["llm_first_token"] == {"count": 2, "p50": 300.0, "p95": 300.0, "max": 300.0}


async def test_a_failure_is_an_engine_error(fakes: ModuleType) -> None:
    """The composer raises nothing of its own."""
    with pytest.raises(EngineError):
        await Desk(fakes, EngineTimeout("llm", "no answer")).all(FIRST)
