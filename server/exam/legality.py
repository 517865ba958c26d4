"""Which facts cannot be. Live facts race, so a late one is legal; an answer to what was never asked is not."""

from __future__ import annotations

from server.exam import facts
from server.exam.facts import Fact
from server.exam.flush import Stage

_ENDS = (facts.EndRequested, facts.ClientLeft, facts.LimitExceeded)

_STAGES: dict[type[Fact], tuple[Stage, ...]] = {
    facts.SessionStarted: (Stage.OPEN,),
    facts.ListeningStopped: (Stage.GATHERING, Stage.EVALUATING),
    facts.PendingHeard: (Stage.GATHERING, Stage.EVALUATING),
    facts.Evaluated: (Stage.EVALUATING,),
    facts.EvaluationFailed: (Stage.EVALUATING,),
}
"""The stages of the flush in which a fact may come; one that is not here may come in every stage."""


class IllegalFact(ValueError):
    """A fact that cannot follow from what the exam has asked for. Names the fact and the state."""


def check(fact: Fact, *, started: bool, stage: Stage, last_turn: int) -> None:
    """Raise :class:`IllegalFact` when ``fact`` cannot be. After the close everything may come: it is dropped."""
    if stage is Stage.CLOSED:
        return
    name = type(fact).__name__
    if stage not in _STAGES.get(type(fact), (stage,)):
        raise IllegalFact(f"{name} answers what was not asked for: the exam's end is {stage.value}")
    if started and isinstance(fact, facts.SessionStarted):
        raise IllegalFact(f"{name} came twice: the session has started, its end is {stage.value}")
    if not started and stage is Stage.OPEN and not isinstance(fact, (facts.SessionStarted, *_ENDS)):
        raise IllegalFact(f"{name} came before SessionStarted: expected that first, or an end")
    turn = getattr(fact, "turn", 0)
    if turn > last_turn:
        raise IllegalFact(f"{name} is about turn {turn}, which was never handed out: the last one is {last_turn}")
