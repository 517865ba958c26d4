"""What a close code means to the person at the terminal, and what to do about it."""

from __future__ import annotations

from server.client.events import Closed
from server.wire import closes
from server.wire.closes import CloseCode

_REFUSALS = {
    closes.AUTH_REQUIRED: (
        "the token was not accepted: it is missing, malformed, expired, wrongly signed or meant for another audience. "
        "Make one on the server's machine with `relance token`, and give it with --token or RELANCE_TOKEN"
    ),
    closes.PLAN_INSUFFICIENT: (
        "the token's plan does not allow live oral exams. Make one with `relance token --plan premium`"
    ),
    closes.SUJET_NOT_FOUND: (
        "the server has no such subject of mode EO, task 2. Leave --sujet out to take its first one"
    ),
    closes.T1_UNAVAILABLE: (
        "the server's engines cannot run: no LLM is configured, or a model is missing. See its log and `GET /readyz`"
    ),
    closes.T2_UNAVAILABLE: (
        "the server's engines cannot run: no LLM is configured, or a model is missing. See its log and `GET /readyz`"
    ),
    closes.TRY_AGAIN_LATER: (
        "the server holds as many exams as it may, or this candidate already sits in one. Try again when one has ended"
    ),
}

_BREAKS = {
    closes.DONE: "the exam is over",
    closes.SHUTTING_DOWN: "the server is shutting down; what was said is stored",
    closes.IDLE: "the server heard nothing from this client for too long",
    closes.AUDIO_BACKLOG: "the audio came faster than the server could listen. Use --speed 1",
    closes.FRAME_TOO_BIG: "a frame was larger than the server takes",
    closes.PERSISTENCE_FAILED: "the server could not store the exam: look at its disk and its log",
    closes.CORRECTION_FAILED: "the exam is stored with its transcript, but no valid report could be had from the LLM",
    closes.ENGINE_FAILED: "an engine failed twice; what was said is stored. See the server's log",
    CloseCode(1006): "the connection broke: the server is gone, or the network is",
    CloseCode(1011): "the server failed in a way that it did not foresee. See its log",
}


def is_refusal(closed: Closed) -> bool:
    """Whether this close means that no exam began."""
    return _known(closed) in _REFUSALS


def explain(closed: Closed) -> str:
    """Return one line: the code, its reason, what it means and what to do."""
    meaning = (_REFUSALS | _BREAKS).get(_known(closed), "a close code that the contract does not have")
    return f"closed with {closed.code}{f' {closed.reason}' if closed.reason else ''}: {meaning}"


def _known(closed: Closed) -> CloseCode:
    """Return the contract's code that ``closed`` is: by code and reason, or by the code alone."""
    exact = CloseCode(closed.code, closed.reason)
    known = [*_REFUSALS, *_BREAKS]
    same_code = [code for code in known if code.code == closed.code]
    return exact if exact in known or not same_code else same_code[-1]
