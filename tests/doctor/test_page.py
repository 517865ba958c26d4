"""The page about the doctor."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from server.cli.doctor import doctor as command

PAGE = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text("utf-8")


def test_the_page_names_the_options_that_there_are() -> None:
    """Every option is on the page, and every option on the page exists."""
    app = typer.Typer(add_completion=False)
    app.command()(command)
    exist = {name for parameter in typer.main.get_command(app).params for name in parameter.opts}
    assert {name for name in exist if name != "--help"} == set(re.findall(r"--[a-z-]+[a-z]", PAGE))
