"""Forty turns of task 2 at the real llama.cpp: by its own figures, what was read once is not read again."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from engines.protocols import Delta, Message, Usage
from engines.styles import opened
from server.exam.dialogue import Dialogue
from server.exam.prompts_t2 import Subject, roleplay_prompts
from server.exam.spoken import Spoken

pytestmark = pytest.mark.anyio

TURNS = 40
BUDGET_CHARS = 3_000
TRAINS = Subject("Clerk at a railway station", "A traveller wants to go to the sea.", "Find out about trains.")


class Counter:
    """One exam's talk with a language model, and what it counted in each turn."""

    def __init__(self, llm, subject: Subject) -> None:
        self.llm = llm
        self.subject = subject
        self.dialogue = Dialogue("en")
        self.usages: list[Usage] = []
        self.first_messages: list[Message] = []

    async def turn(self, question: str) -> None:
        number = len(self.usages)
        self.dialogue.hear(number, question)
        prompt, _ = roleplay_prompts("en", self.subject, self.dialogue.history(BUDGET_CHARS))
        messages = [Message(role, text) for role, text in prompt.messages]
        self.first_messages.append(messages[1])
        answer = ""
        async for part in self.llm.stream(messages, max_tokens=16, temperature=0, timeout_s=60):
            if isinstance(part, Delta):
                answer += part.text
            else:
                self.usages.append(part)
        spoken = Spoken(number, [(answer.strip(), 1_000)])
        self.dialogue.say(spoken, keep_place=False)
        spoken.play(1_000, complete=True)

    def cuts(self) -> list[int]:
        """Return the turns in whose prompt the dialogue begins later than in the turn before."""
        firsts = self.first_messages
        return [n for n in range(1, len(firsts)) if firsts[n] != firsts[n - 1]]


@pytest.mark.parametrize("setup", [("llm", "openai")], indirect=True)
async def test_forty_turns_reuse_their_prompt(setup) -> None:
    """New tokens of a turn: its question, the answer before it, and what surrounds them; the rest is cached.

    Another exam, on the same subject, speaks in between: each keeps its slot. After a cut the dialogue is read anew.
    """
    async with AsyncExitStack() as stack:
        llm = await opened("openai", setup, stack)
        exam, other = Counter(llm, TRAINS), Counter(llm, TRAINS)
        for n in range(TURNS):
            await exam.turn(f"Turn {n}. When does the train number {n} leave from here, and what is the price?")
            if n % 8 == 0:
                await other.turn(f"Other {n}. When does the train number {n} come back, and is there a dog on it?")
    new = [usage.prompt_tokens - usage.cached_tokens for usage in exam.usages]
    cuts = exam.cuts()
    assert len(new) == TURNS
    assert 1 <= len(cuts) <= 2
    read_anew = {n: tokens for n, tokens in enumerate(new) if tokens > 80 and n not in (0, *cuts)}
    assert read_anew == {}
    assert max(usage.prompt_tokens for usage in exam.usages) > 500, "expected prompts for which a cache matters"
    assert all(usage.prompt_tokens - usage.cached_tokens < 80 for usage in other.usages[1:])
