from __future__ import annotations

import re
from pathlib import Path

import typer

from server.cli.exam import exam
from server.client.chronicle import EVENT_TYPES
from server.wire import closes

PAGE = (Path(__file__).parents[2] / "docs" / "exam-client.md").read_text("utf-8")
CONTRACT = [value for value in vars(closes).values() if isinstance(value, closes.CloseCode)]


def section(heading: str) -> str:
    return PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]


def test_every_option_is_on_the_page_and_every_option_on_the_page_exists():
    """The page and the command name the same options, but for those of other commands."""
    app = typer.Typer(add_completion=False)
    app.command()(exam)
    parameters = typer.main.get_command(app).params
    exist = {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
    exist = {name for name in exist if name.startswith("--")}
    named = set(re.findall(r"--[a-z][a-z-]*", PAGE)) - {"--plan"}
    assert named <= exist
    assert exist - named <= {"--captions", "--wait", "--no-loop"}, "defaults need no words"


def test_every_close_of_the_contract_is_on_the_page():
    """Each code with each of its reasons has a row, with what to do."""
    table = section("Closes, and what to do")
    for close in CONTRACT:
        (row,) = [line for line in table.splitlines() if line.startswith(f"| {close.code} ") and close.reason in line][
            :1
        ]
        assert len(row.strip("| ").split(" | ")) == 3


def test_every_type_of_event_is_on_the_page():
    """The table of types and the client's JSON have the same names."""
    rows = [
        line.split("|")[1] for line in section("For machines").split("| `type` |")[1].splitlines()[2:] if "|" in line
    ]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(EVENT_TYPES.values())
