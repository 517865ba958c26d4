"""Logs: event names, ids, durations, counts. Never text that was said, audio, prompts or tokens.

Three guards against what others may log: libraries are heard from warnings on, for some quote addresses with their
query; exceptions are shown by type and place, without their message; and whatever looks like a token is blanked.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Literal, TextIO

import stamina
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

OUR_PACKAGES = ("server", "engines")
_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+(\.[\w-]*)?")  # a JWT begins with the base64 of '{"'


def configure(level: str, style: Literal["console", "json"], stream: TextIO | None = None) -> None:
    """Send everything that is logged, by structlog or by the standard library, to ``stream`` (standard error).

    ``level`` is the least level shown of our own events. Calling it again replaces what was configured before.
    """
    out = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        name_exception,
        blank_tokens,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback)
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(logging.WARNING)
    for package in OUR_PACKAGES:
        logging.getLogger(package).setLevel(level.upper())
    stamina.instrumentation.set_on_retry_hooks(())  # every attempt is logged by whoever counts it
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def name_exception(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Put the exception's types and places where its text would be: its message may hold what was said."""
    given = event.pop("exc_info", None)
    error = sys.exc_info()[1] if given is True else given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        event["exception"] = " < ".join(_names(error))
        event["at"] = _places(error)
    return event


def blank_tokens(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Blank whatever looks like a token in the event and its values."""
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = _TOKEN.sub("[token]", value)
    return event


def _names(error: BaseException | None) -> Iterator[str]:
    """The exception's type, then those of its causes; a task group's stands for its first."""
    while error is not None:
        yield type(error).__name__
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        else:
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _places(error: BaseException) -> list[str]:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-5:]]
