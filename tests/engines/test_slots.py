"""Slots: a conversation keeps its own, whatever others ask in between."""

from __future__ import annotations

import pytest

from engines.openai.slots import Slots
from engines.protocols import Message

SYSTEM = Message("system", "You sell tickets. " * 20)


def user(text: str) -> Message:
    return Message("user", text)


def said(text: str) -> Message:
    return Message("assistant", text)


def slot_of(slots: Slots, *messages: Message) -> int:
    with slots.taken(messages) as slot:
        return slot


def test_two_conversations_with_one_beginning_keep_apart() -> None:
    """The system message alone is no conversation: many have it."""
    slots = Slots(3)
    one = [SYSTEM, user("How much is it?")]
    two = [SYSTEM, user("When does it leave?")]
    first = slot_of(slots, *one)
    second = slot_of(slots, *two)
    assert first != second
    for n in range(5):
        one += [said(f"Ten, {n}."), user(f"And {n}?")]
        two += [said(f"At noon, {n}."), user(f"Then {n}?")]
        assert (slot_of(slots, *one), slot_of(slots, *two)) == (first, second)


def test_a_last_message_may_grow() -> None:
    """A turn that went on after its reply was prepared, and a warm-up with nothing said yet."""
    slots = Slots(4)
    first = slot_of(slots, SYSTEM, user(""))
    assert slot_of(slots, SYSTEM, user("How much")) == first
    assert slot_of(slots, SYSTEM, user("How much is it?")) == first
    assert slot_of(slots, SYSTEM, user("When?")) != first


def test_single_questions_leave_conversations_alone() -> None:
    """An evaluation, a relance: nothing continues them, so they share what no conversation needs."""
    slots = Slots(4)
    talk = [SYSTEM, user("How much is it?")]
    kept = slot_of(slots, *talk)
    assert slot_of(slots, *talk, said("Ten."), user("And two?")) == kept
    alone = {slot_of(slots, Message("system", "Judge."), user(f"Transcript {n}")) for n in range(9)}
    assert kept not in alone


def test_a_second_try_does_not_cost_the_slot() -> None:
    """The guard asked again with a reminder, or words were heard anew: the next turn is still the same conversation."""
    slots = Slots(4)
    first = slot_of(slots, SYSTEM, user("How much is it?"))
    assert slot_of(slots, SYSTEM, user("How much is it?\n(One statement.)")) == first
    talk = [SYSTEM, user("How much is it?"), said("Ten."), user("And two?")]
    assert slot_of(slots, *talk) == first
    assert slot_of(slots, *talk[:-1], user("And for two?")) == first
    assert slot_of(slots, SYSTEM, user("When?")) != first


def test_another_conversation_does_not_wait_in_a_slot_that_is_taken() -> None:
    """Two that began alike: while one is answered the other goes elsewhere."""
    slots = Slots(4)
    talk = [SYSTEM, user("Hello."), said("Hello."), user("How much?")]
    with slots.taken(talk) as busy:
        assert slot_of(slots, *talk[:-1], user("When?")) != busy


def test_background_work_has_a_slot_of_its_own() -> None:
    """The last one, which no conversation takes, not even when the others are all in use."""
    slots = Slots(3)
    talks = {slot_of(slots, SYSTEM, user(f"I am {n}.")) for n in range(5)}
    assert talks == {0, 1}
    with slots.taken([user("Judge.")], in_background=True) as slot:
        assert slot == 2
    with Slots(1).taken([user("Judge.")]) as only:
        assert only == 0


def test_with_too_few_the_oldest_gives_way() -> None:
    """More conversations than slots: the one that was longest silent is read anew."""
    slots = Slots(3)
    talks = [[SYSTEM, user(f"I am {n}.")] for n in range(3)]
    for talk in talks[:2]:
        slot_of(slots, *talk)
        talk += [said("Hello."), user("Yes.")]
        slot_of(slots, *talk)
    oldest = slot_of(slots, *talks[0])
    assert slot_of(slots, *talks[1]) != oldest
    assert slot_of(slots, *talks[2]) == oldest


def test_a_busy_slot_is_left_to_its_request() -> None:
    """While one is under way, another goes elsewhere; with none free it waits behind the oldest."""
    slots = Slots(3)
    with slots.taken([SYSTEM, user("a")]) as first:
        with slots.taken([SYSTEM, user("b")]) as second:
            assert first != second
            assert slot_of(slots, SYSTEM, user("c")) == first
        assert slot_of(slots, SYSTEM, user("d")) == second


@pytest.mark.parametrize("before", [[SYSTEM], [SYSTEM, said("How")], [SYSTEM, user("How much?"), said("Ten.")]])
def test_what_is_no_beginning_is_not_continued(before: list[Message]) -> None:
    """Another role, a first message alone, a longer talk: each is something else."""
    slots = Slots(3)
    assert slot_of(slots, *before) != slot_of(slots, SYSTEM, user("How much?"))
