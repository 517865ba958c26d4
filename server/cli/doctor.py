"""``relance doctor``: what is configured, whether each part works, and what mends it."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated

import structlog
import typer
from rich.console import Console

from server.settings import Settings, SettingsError, load


def doctor(
    timeout: Annotated[float, typer.Option(min=1, max=600, help="Seconds that one inference may take.")] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout in place of the lines.")] = False,
) -> None:
    """Check everything that exams need, with one real inference on each engine; say what mends each fault.

    Nothing is made, migrated or left running. Exit status: 0 when all is well, 1 with a fault.
    """
    # Loaded here and not above: it brings the engines' libraries, which other commands do without.
    from server.doctor import Report, examine, in_force
    from server.doctor.in_force import secrets
    from server.doctor.settings_faults import settings_findings

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    console = Console(stderr=as_json, highlight=False, emoji=False)
    settings, wrong = _loaded()
    report = Report(console, secrets(settings) if settings else (), as_json=as_json)
    if settings is None:
        for finding in settings_findings(wrong):
            report.tell(finding)
    else:
        report.configuration(settings.profile, settings.language, in_force(settings))
        asyncio.run(examine(settings, timeout, report))
    report.conclude()
    raise typer.Exit(1 if report.faults else 0)


def _loaded() -> tuple[Settings | None, tuple[str, ...]]:
    """Return the settings, or the faults in them."""
    try:
        return load(), ()
    except SettingsError as error:
        return None, error.faults
