"""What reaches the log, and what never does."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from server import logs

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJl"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Where a JSON log at the most talkative level goes."""
    stream, handlers, level = io.StringIO(), logging.root.handlers[:], logging.root.level
    logs.configure("debug", "json", stream)
    yield stream
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


def events(log: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_an_exceptions_message_is_not_logged(log: io.StringIO) -> None:
    """Of an exception its types and places are shown; its message may hold what a candidate said."""
    try:
        try:
            raise ValueError("je m’appelle Ana")
        except ValueError as error:
            raise ExceptionGroup("ma vie privée", [KeyError("Ana")]) from error
    except ExceptionGroup:
        structlog.get_logger("server.test").exception("evaluation_failed")
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    assert "Ana" not in log.getvalue()
    assert "privée" not in log.getvalue()
    for event in events(log):
        assert event["exception"] == "ExceptionGroup < KeyError"
        assert event["level"] == "error"
        assert isinstance(event["at"], list)


@pytest.mark.parametrize(
    "text", [TOKEN, f"GET /t1/live?token={TOKEN} HTTP/1.1", f"Bearer {TOKEN}", TOKEN.rpartition(".")[0]]
)
def test_what_looks_like_a_token_is_blanked(log: io.StringIO, text: str) -> None:
    """In the event, in a value, or in another library's message."""
    structlog.get_logger("server.test").info(text, value=text)
    logging.getLogger("other").warning("said %s", text)
    assert log.getvalue().count("[token]") == 3
    assert "eyJ" not in log.getvalue()


@pytest.mark.parametrize("name", ["uvicorn.error", "httpx", "sqlalchemy.engine"])
def test_libraries_are_quiet(log: io.StringIO, name: str) -> None:
    """They are heard from warnings on."""
    logging.getLogger(name).info("GET http://host/path?key=secret")
    logging.getLogger(name).warning("trouble")
    assert [event["event"] for event in events(log)] == ["trouble"]


def test_the_level_is_kept(log: io.StringIO) -> None:
    """Less than the level is not shown; what is shown has a time, a level, a name and its values."""
    logs.configure("info", "json", log)
    structlog.get_logger("server.test").debug("frame_ignored")
    structlog.get_logger("server.test").info("session_ended", task="t1", turns=3)
    (event,) = events(log)
    assert (event["event"], event["level"], event["task"], event["turns"]) == ("session_ended", "info", "t1", 3)
    assert str(event["timestamp"]).endswith("Z")


def test_the_console_form_is_one_line(log: io.StringIO) -> None:
    """For people the same events come as lines."""
    stream = io.StringIO()
    logs.configure("info", "console", stream)
    structlog.get_logger("server.test").info("session_ended", task="t1")
    assert stream.getvalue().count("\n") == 1
    assert "session_ended" in stream.getvalue()
