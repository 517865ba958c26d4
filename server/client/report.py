"""The report on a terminal. What a report lacks is left out: it is the server's to check, not the client's."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from server.client.live_view import printable, timestamp


def print_report(report: dict[str, Any], console: Console) -> None:
    """Print ``report``, the contract's ``report.data``, to ``console``."""
    parts = [
        _marks(report),
        _criteria(_rows(report, "criteres")),
        *_points("Strong points", report.get("pointsForts")),
        *_points("To improve", report.get("pointsAmelioration")),
        *_corrections(_rows(report, "corrections")),
        *_transcript(report.get("transcript")),
    ]
    console.print(Panel(Group(*parts), title=_title(report), title_align="left"))


def _title(report: dict[str, Any]) -> Text:
    title = f"Report {_word(report.get('tache'))}".rstrip()
    duration_ms = report.get("durationMs")
    if isinstance(duration_ms, int | float):
        title += f", {timestamp(duration_ms / 1000)}"
    return Text(title, style="bold")


def _marks(report: dict[str, Any]) -> Text:
    phonology = report.get("phonologie")
    phonology = phonology if isinstance(phonology, dict) else {}
    marks = Text.assemble(
        ("Score ", "bold"), (f"{_word(report.get('score'))}/20", "bold magenta"), f"   NCLC {_word(report.get('nclc'))}"
    )
    marks.append(f"   text {_word(report.get('scoreTextuel'))}/16", style="dim")
    marks.append(f"   phonology {_word(phonology.get('score'))}/4 ({_word(phonology.get('method'))})", style="dim")
    return marks


def _criteria(rows: list[dict[str, Any]]) -> RenderableType:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(_text(row.get("name"), "bold"), _text(row.get("score"), "magenta"), _text(row.get("comment")))
    return Padding(table, (1, 0, 0, 0))


def _points(heading: str, points: object) -> list[RenderableType]:
    if not isinstance(points, list) or not points:
        return []
    return [_heading(heading), *(Text.assemble("• ", _text(point)) for point in points)]


def _corrections(rows: list[dict[str, Any]]) -> list[RenderableType]:
    if not rows:
        return []
    lines = (
        Text.assemble(
            _text(row.get("said"), "red"), " → ", _text(row.get("better"), "green"), "  ", _text(row.get("why"), "dim")
        )
        for row in rows
    )
    return [_heading("Corrections"), *lines]


def _transcript(transcript: object) -> list[RenderableType]:
    return [_heading("Transcript"), _text(transcript)] if transcript else []


def _heading(words: str) -> Text:
    return Text(f"\n{words}", style="bold underline")


def _rows(report: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = report.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _word(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "" if value is None else printable(str(value))


def _text(value: object, style: str = "") -> Text:
    return Text(_word(value), style=style)
