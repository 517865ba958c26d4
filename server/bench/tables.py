"""A record on a terminal: each figure with its quantiles, and beside them what is asked."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.bench.figures import summary
from server.bench.record import Figure, Record
from server.bench.targets import met, wording


def print_record(record: Record, console: Console) -> None:
    """Print the figures of ``record``, what did not count and why, and its notes."""
    console.print(_heading(record))
    table = Table(box=None, pad_edge=False, header_style="bold")
    grouped = any(figure.group for figure in record.figures)
    for name in (["run"] if grouped else []) + ["figure", "by"]:
        table.add_column(name, overflow="fold")
    for name in ("n", "p50", "p95", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("target", overflow="fold")
    for figure in record.figures:
        table.add_row(*([figure.group] if grouped else []), *cells(figure), _targets(figure))
    console.print(table)
    for line in remarks(record):
        console.print(line, markup=False, soft_wrap=True)


def cells(figure: Figure) -> tuple[str, ...]:
    """Return name, source, n, p50, p95 and max of a figure as text."""
    told: dict[str, float | None] = dict(figure.summarised or {})
    if (found := summary(figure.samples)) is not None:
        told = {"n": found.n, "p50": found.p50, "p95": found.p95, "max": found.max}
    numbers = [shown(told.get(name)) for name in ("p50", "p95", "max")]
    return f"{figure.name}, {figure.unit}", figure.source, f"{told.get('n') or 0:.0f}", *numbers


def shown(value: float | None) -> str:
    """Return a number with as many digits as it has meaning; a dash for none."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def remarks(record: Record) -> list[str]:
    """Return what is to be said beside the figures: turns that do not count, and the notes."""
    faults = Counter(fault.partition(" by ")[0] for turn in record.turns for fault in turn.faults)
    lines = [f"{count} of {len(record.turns)} turns do not count: {fault}" for fault, count in sorted(faults.items())]
    return lines + list(record.notes)


def _heading(record: Record) -> Text:
    machine = record.machine
    text = Text(record.title, style="bold")
    text.append(f"\n{machine.cpu}, {machine.cores} cores, load {machine.load:g} before", style="dim")
    return text


def _targets(figure: Figure) -> Text:
    text = Text()
    for target in figure.targets:
        state = met(figure, target)
        style, word = {True: ("green", "met"), False: ("red", "not met"), None: ("dim", "no samples")}[state]
        text.append(f"{chr(10) if text else ''}{wording(target, figure.unit)} ")
        text.append(word, style=style)
    return text
