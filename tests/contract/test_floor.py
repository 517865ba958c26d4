"""Task 2: who has the floor. Cutting in, push-to-talk, and captions for those alone who ask."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def question(spoken, client):
    """A question and the silence that ends its turn."""
    return lambda name: np.concatenate([spoken(name), client.silence(1.5)])


async def test_cutting_in_silences_the_examiner(sit, speech_server, question, human, scripted):
    """``interrupted``, and not one audio frame after it; the transcript keeps what was heard, not what was written."""
    async with sit(speech_server, "t2") as candidate:
        await candidate.speak(question("rent"))
        for _ in range(20):
            await candidate.hear("audio")
        await candidate.speak(human(0.7, 2.9))
        assert await candidate.hear("interrupted") == {"type": "interrupted"}
        assert await candidate.hears_nothing(1.5)
        await candidate.say("end")
        account = await candidate.over()
    assert account.kinds == ["audio"] * account.kinds.count("audio") + ["interrupted", "report"]
    rent, answer, times = account.transcript.splitlines()
    heard = answer.removeprefix("Examiner: ").rstrip(" …")
    assert "rent" in rent
    assert "best of times" in times
    assert scripted.REPLY.startswith(heard)
    assert 0 < len(heard) < len(scripted.REPLY)


async def test_the_dialogue_goes_on_after_cutting_in(sit, speech_server, question, llm):
    """The next turn is answered, and the language model is told only what was heard of the turn that was cut."""
    async with sit(speech_server, "t2") as candidate:
        await candidate.speak(question("rent"))
        for _ in range(20):
            await candidate.hear("audio")
        await candidate.speak(question("visit"))
        await candidate.hear("interrupted")
        await candidate.hear("audio")
        await candidate.say("end")
        account = await candidate.over()
    history = llm.replies[-1]
    assert [message["role"] for message in history] == ["system", "user", "assistant", "user"]
    assert history[2]["content"] == account.transcript.splitlines()[1].removeprefix("Examiner: ")
    assert "visit" in history[3]["content"]


async def test_push_to_talk_decides_the_turn(sit, speech_server, spoken, client, llm):
    """``?vad=manual``: no silence ends the turn, ``activityEnd`` does, and both halves are answered as one."""
    asked = len(llm.replies)
    async with sit(speech_server, "t2", vad="manual") as candidate:
        await candidate.say("activityStart")
        await candidate.speak(np.concatenate([spoken("rent"), client.silence(3), spoken("visit")]))
        assert await candidate.hears_nothing(2)
        await candidate.say("activityEnd")
        await candidate.hear("audio")
        await candidate.say("end")
        account = await candidate.over()
    (request,) = llm.replies[asked:]
    assert "rent" in request[-1]["content"]
    assert "visit" in request[-1]["content"]
    assert account.transcript.splitlines()[0].startswith("Candidate: ")
    assert account.close == (1000, "")


async def test_push_to_talk_hears_nothing_outside_a_turn(sit, speech_server, spoken, llm):
    """What is said while the button is up is not heard, and ends no turn."""
    asked = len(llm.replies)
    async with sit(speech_server, "t2", vad="manual") as candidate:
        await candidate.speak(spoken("visit"))
        await candidate.say("activityEnd")
        await candidate.say("end")
        account = await candidate.over()
    assert [error["code"] for error in account.all("error")] == ["EMPTY_TRANSCRIPT"]
    assert len(llm.replies) == asked


async def test_pushing_to_talk_cuts_in(sit, speech_server, spoken):
    """``activityStart`` into the examiner's turn is a barge-in, however quiet the room."""
    async with sit(speech_server, "t2", vad="manual") as candidate:
        await candidate.say("activityStart")
        await candidate.speak(spoken("rent"))
        await candidate.say("activityEnd")
        for _ in range(12):
            await candidate.hear("audio")
        await candidate.say("activityStart")
        await candidate.speak(np.zeros(1_600, np.int16))
        await candidate.hear("interrupted")
        assert await candidate.hears_nothing(1.5)
        await candidate.say("end")
        account = await candidate.over()
    assert account.kinds[-2:] == ["interrupted", "report"]


async def test_push_to_talk_is_unknown_where_it_was_not_asked_for(sit, speech_server, spoken, client):
    """Without the parameter ``activityEnd`` ends no turn: after 0.7 s of silence the words are heard, not answered."""
    async with sit(speech_server, "t2", captions="1") as candidate:
        await candidate.say("activityStart")
        await candidate.speak(np.concatenate([spoken("rent"), client.silence(0.7)]))
        await candidate.say("activityEnd")
        caption = await candidate.hear("caption")
        assert await candidate.hears_nothing(1.5)
        await candidate.say("end")
        account = await candidate.over()
    assert caption["role"] == "candidate"
    assert set(account.kinds) == {"caption", "report"}


@pytest.mark.parametrize("asked", [{}, {"captions": "0"}, {"captions": "true"}, {"captions": ""}])
async def test_captions_are_for_those_who_ask_with_1(sit, speech_server, human, asked):
    """Existing clients never see them."""
    async with sit(speech_server, "t2", **asked) as candidate:
        await candidate.speak(human(0.7, 2.9))
        await candidate.say("end")
        account = await candidate.over()
    assert account.kinds == ["report"]


async def test_the_last_words_have_a_caption_too(sit, speech_server, human):
    """An utterance that the end cut off is heard, shown, and in the report."""
    async with sit(speech_server, "t2", captions="1") as candidate:
        await candidate.speak(human(0.7, 2.9))
        await candidate.say("end")
        account = await candidate.over()
    assert account.kinds == ["caption", "report"]
    (caption,) = account.all("caption")
    assert account.transcript == f"Candidate: {caption['text']}"
