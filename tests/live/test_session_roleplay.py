"""Whole sessions of task 2: who has the floor, and what of a turn is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engines.errors import EngineUnavailable
from server.exam.effects import Close

PRICE = "Le billet coûte quarante euros."
LONG = "Le train part à huit heures du matin. Il arrive à Marseille un peu avant midi. Le billet coûte quarante euros."
GONE = EngineUnavailable("llm", "refused")


def lines(room: Any) -> list[str]:
    return room.productions.only.transcript.splitlines()


async def finish(candidate: Any) -> None:
    candidate.end()
    await candidate.until("report")


async def test_a_question_is_answered(rooms: Any, client: Any) -> None:
    """The examiner waits in silence, answers when the turn is over, and the turn is complete when it has been heard."""
    room = rooms.roleplay(PRICE)

    async def script(candidate: Any) -> None:
        await candidate.keep_silent(5)
        await candidate.say("Bonjour combien coûte le billet")
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    assert await room.conduct(script) == Close(1000)
    candidate = room.candidate
    assert candidate.kinds == ["caption", "audio", "caption", "turnComplete", "report"]
    assert candidate.sentences == [(PRICE, pytest.approx(len(PRICE) / 15, abs=0.01))]
    assert lines(room) == ["Candidat : Bonjour combien coûte le billet", f"Examinateur : {PRICE}"]
    spoken_until = 5 + 5 * 0.3
    first = candidate.of("audio")[0].at
    assert 2.0 <= first - spoken_until <= 2.0 + 1.0
    assert candidate.of("turnComplete")[0].at >= first + len(PRICE) / 15
    assert candidate.close == (1000, "")


async def test_the_gap_is_measured(rooms: Any) -> None:
    """The time from the end of the turn to the first frame is in the production's figures, with every stage's."""
    room = rooms.roleplay(PRICE)

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    latency = room.productions.only.latency
    assert {"stt", "llm_first_token", "llm", "tts_first_audio", "reply", "gap"} <= set(latency)
    assert latency["gap"]["count"] == 1
    assert 300 < latency["gap"]["max"] < 1_000


async def test_the_slowest_turn_is_told_with_its_stages(rooms: Any) -> None:
    """Of two turns the slower one: which it was, and each stage that led to its first frame."""
    room = rooms.roleplay(PRICE, LONG)

    async def script(candidate: Any) -> None:
        for question in ("combien coûte le billet", "à quelle heure part le train"):
            await candidate.say(question)
            await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    latency = room.productions.only.latency
    slowest = latency["slowest_turn"]
    assert slowest["turn"] in (1, 2)
    assert slowest["gap"] == latency["gap"]["max"]
    assert slowest["reply"] >= slowest["llm_first_token"] + slowest["tts_first_audio"]
    assert slowest["stt"] > 0


async def test_a_barge_in_stops_the_examiner_and_keeps_what_was_heard(rooms: Any) -> None:
    """Cutting in stops the audio at once; transcript and the LLM's history hold the words heard until then, no more."""
    room = rooms.roleplay(LONG, PRICE)

    async def script(candidate: Any) -> None:
        await candidate.say("à quelle heure part le train")
        first = await candidate.silent_until("audio")
        await candidate.keep_silent(3.5)
        await candidate.say("et le prix du billet s'il vous plaît")
        assert candidate.of("interrupted")[0].at - (first.at + 3.6) < 0.6
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    candidate, (asked, cut, again, answer) = room.candidate, lines(room)
    assert candidate.kinds.count("interrupted") == 1
    interrupted = candidate.frames.index(candidate.of("interrupted")[0])
    after = [frame for frame in candidate.frames[interrupted:] if frame.kind == "audio"]
    assert after[0].at > candidate.of("interrupted")[0].at + 2.0
    heard = cut.removeprefix("Examinateur : ")
    assert LONG.startswith(heard)
    assert heard.removeprefix("Le train part à huit heures du matin. ") in ("Il arrive à", "Il arrive à Marseille")
    assert (asked, again) == (
        "Candidat : à quelle heure part le train",
        "Candidat : et le prix du billet s'il vous plaît",
    )
    assert answer == f"Examinateur : {PRICE}"
    assert ("assistant", heard) in room.llm.requests[1]
    assert [request[-1] for request in room.llm.requests] == [
        ("user", "à quelle heure part le train"),
        ("user", "et le prix du billet s'il vous plaît"),
    ]


async def test_a_barge_in_before_anything_was_heard_leaves_no_line(rooms: Any) -> None:
    """A turn that is cut in its first syllable was not said: both questions are answered together."""
    room = rooms.roleplay(PRICE, PRICE)

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.keep_silent(2.35)
        await candidate.say("et à quelle heure part le train")
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    (asked, answer) = lines(room)
    assert asked == "Candidat : combien coûte le billet et à quelle heure part le train"
    assert answer == f"Examinateur : {PRICE}"


@pytest.mark.parametrize("cough_s", [0.15, 0.6])
async def test_a_cough_does_not_silence_the_answer(rooms: Any, cough_s: float) -> None:
    """A noise without words while the answer is being prepared, short or long: the answer still comes, once."""
    room = rooms.roleplay(PRICE, PRICE)
    room.llm.first_s = 1.5

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.keep_silent(2.5)
        await candidate.cough(cough_s)
        await candidate.silent_until("turnComplete")
        await candidate.keep_silent(8)
        await finish(candidate)

    await room.conduct(script)
    assert room.candidate.kinds.count("turnComplete") == 1
    assert [sentence for sentence, _ in room.candidate.sentences] == [PRICE]
    assert lines(room) == ["Candidat : combien coûte le billet", f"Examinateur : {PRICE}"]


async def test_a_short_yes_does_not_cut_the_examiner(rooms: Any) -> None:
    """A word under a quarter of a second while the examiner talks is kept, and cuts and asks nothing."""
    room = rooms.roleplay(LONG)

    async def script(candidate: Any) -> None:
        await candidate.say("à quelle heure part le train")
        await candidate.silent_until("audio")
        await candidate.keep_silent(1.0)
        await candidate.say("oui", word_s=0.19)
        await candidate.silent_until("turnComplete")
        await candidate.keep_silent(8)
        await finish(candidate)

    await room.conduct(script)
    assert "interrupted" not in room.candidate.kinds
    assert room.candidate.kinds.count("turnComplete") == 1
    assert len(room.llm.requests) == 1
    assert sum(length for _, length in room.candidate.sentences) == pytest.approx((len(LONG) - 2) / 15, abs=0.1)
    assert sorted(lines(room)) == ["Candidat : oui", "Candidat : à quelle heure part le train", f"Examinateur : {LONG}"]


async def test_a_pause_for_thought_ends_no_turn(rooms: Any) -> None:
    """Silence shorter than two seconds belongs to the turn: one answer, to all of it."""
    room = rooms.roleplay(PRICE)

    async def script(candidate: Any) -> None:
        await candidate.say("je voudrais savoir")
        await candidate.keep_silent(1.7)
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    assert [request[-1][1] for request in room.llm.requests] == ["je voudrais savoir combien coûte le billet"]
    assert lines(room)[0] == "Candidat : je voudrais savoir combien coûte le billet"


async def test_a_question_of_the_examiner_is_never_heard(rooms: Any) -> None:
    """What the model asks is dropped before it is spoken; what it states is said."""
    room = rooms.roleplay(f"{PRICE} Voulez-vous réserver ?")

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    assert [sentence for sentence, _ in room.candidate.sentences] == [PRICE]


async def test_half_a_sentence_at_the_token_limit_is_not_heard(rooms: Any) -> None:
    """After a whole sentence, one without an end was cut by the limit, and is not spoken."""
    room = rooms.roleplay(f"{PRICE} Le train part")

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    assert [sentence for sentence, _ in room.candidate.sentences] == [PRICE]


async def test_push_to_talk_needs_no_silence(rooms: Any) -> None:
    """With manual activity the client's mark is the decision, however loud or silent the room is."""
    room = rooms.roleplay(PRICE)
    room.terms = replace(room.terms, endpoint=replace(room.terms.endpoint, manual=True))

    async def script(candidate: Any) -> None:
        candidate.send({"type": "activityStart"})
        await candidate.say("combien coûte")
        await candidate.keep_silent(4)
        await candidate.say("le billet")
        candidate.send({"type": "activityEnd"})
        await candidate.until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    assert lines(room) == ["Candidat : combien coûte le billet", f"Examinateur : {PRICE}"]


async def test_captions_are_for_those_who_asked(rooms: Any) -> None:
    """A client that did not ask for captions never sees one."""
    room = rooms.roleplay(PRICE, captions=False)

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    assert room.candidate.kinds == ["audio", "turnComplete", "report"]


async def test_a_long_answer_is_at_most_a_second_ahead(rooms: Any, client: Any) -> None:
    """However fast the answer is made, the client has never more than a second of it that it has not played."""
    room = rooms.roleplay(" ".join([LONG] * 3))
    room.tts.slowness = 0.01

    async def script(candidate: Any) -> None:
        await candidate.say("à quelle heure part le train")
        await candidate.silent_until("turnComplete")
        await finish(candidate)

    await room.conduct(script)
    assert 0.8 < client.seconds_ahead(room.candidate.of("audio")) <= 1.0 + 1e-6


async def test_an_answer_that_breaks_off_is_completed_with_what_there_is(rooms: Any) -> None:
    """Once something was said, a failing model ends the turn there; the exam goes on."""
    room = rooms.roleplay((f"{PRICE} Le train part", GONE), "Il part à huit heures.")

    async def script(candidate: Any) -> None:
        await candidate.say("combien coûte le billet")
        await candidate.silent_until("turnComplete")
        await candidate.say("à quelle heure part le train")
        await candidate.silent_until("turnComplete", 2)
        await finish(candidate)

    assert await room.conduct(script) == Close(1000)
    assert lines(room)[1] == f"Examinateur : {PRICE}"
