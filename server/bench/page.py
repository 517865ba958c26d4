"""``relance bench report``: one run, or two next to each other, as one HTML page that holds all that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from server.bench.figures import Summary, ratio, summary
from server.bench.page_style import KEY, STYLE
from server.bench.plots import strip, timeline, value
from server.bench.record import Figure, Machine, Record
from server.bench.tables import remarks, shown
from server.bench.targets import met, reached, wording

MORE_IS_BETTER = ("×", "tokens/s", "sessions")
"""Units of which more is better; of all others less is."""

_VIEWPORT = '<meta name="viewport" content="width=device-width"/>'

Pair = tuple[Figure | None, ...]


def page(records: Sequence[Record]) -> str:
    """Return the page of one record or two; the second is compared with the first. It is XML as well as HTML."""
    pairs = _pairs(records)
    body = "".join(
        [
            f"<h1>{escape(records[0].title)}</h1>",
            *(_run(record, "ab"[at], len(records) > 1) for at, record in enumerate(records)),
            *_tiles(pairs),
            *_timelines(records),
            "<h2>Every sample</h2>",
            "<p class='dim'>"
            "Dots are samples, the thick mark is the median, the thin one p95, a broken line is asked.</p>",
            *(_plot(pair) for pair in pairs),
            *_facts(records),
        ]
    )
    head = f'<meta charset="utf-8"/>{_VIEWPORT}<title>{escape(records[0].title)}</title>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head><body>{body}</body></html>\n'


def _pairs(records: Sequence[Record]) -> list[Pair]:
    """Each figure with its like in every record, in the order in which they first come."""
    by_key = [{_key(figure): figure for figure in record.figures} for record in records]
    keys = dict.fromkeys(key for figures in by_key for key in figures)
    return [tuple(figures.get(key) for figures in by_key) for key in keys]


def _key(figure: Figure) -> tuple[str, ...]:
    return figure.group, figure.name, figure.source, figure.unit


def _run(record: Record, run: str, named: bool) -> str:
    machine = record.machine
    name = f'<b class="run-{run}">{run.upper()}</b> ' if named else ""
    where = f"{machine.cpu}, {machine.cores} cores, load {machine.load:g} before"
    told = f"{record.made_at}, relance {record.relance}, {where}"
    notes = "".join(f"<p class='dim'>{escape(line)}</p>" for line in remarks(record))
    return f"<p>{name}{escape(told)}</p>{notes}"


def _tiles(pairs: Sequence[Pair]) -> Iterator[str]:
    """What is asked, and whether it was met: by each run."""
    tiles = [
        tile for pair in pairs for at, figure in enumerate(pair) if figure for tile in _tiles_of(figure, at, len(pair))
    ]
    if tiles:
        yield f"<h2>What is asked</h2><div class='cards'>{''.join(tiles)}</div>"


def _tiles_of(figure: Figure, at: int, runs: int) -> Iterator[str]:
    for target in figure.targets:
        state = met(figure, target)
        word, style = {True: ("✓ met", "good"), False: ("✗ not met", "bad"), None: ("no samples", "dim")}[state]
        run = f'<span class="run-{"ab"[at]}">{"AB"[at]}</span> ' if runs > 1 else ""
        yield (
            f"<div class='card'><div>{run}{escape(' '.join([figure.group, figure.name]).strip())}</div>"
            f"<b>{shown(reached(figure, target))} {escape(figure.unit)}</b>"
            f"<div class='{style}'>{word}: {escape(wording(target, figure.unit))}</div></div>"
        )


def _timelines(records: Sequence[Record]) -> Iterator[str]:
    if not any(record.turns for record in records):
        return
    key = "".join(f'<span style="--colour:var(--{colour})">{escape(name)}</span>' for colour, name in KEY)
    yield (
        f"<h2>Turn by turn</h2><p class='key'>{key}</p>"
        "<p class='dim'>In ms from the end of speech, in task 1 from the drawn time. Above: what the client saw. "
        "Below: how long the server says that its stages took, in their order. Faded turns do not count.</p>"
    )
    for at, record in enumerate(records):
        if record.turns:
            run = f'<b class="run-{"ab"[at]}">{"AB"[at]}</b>' if len(records) > 1 else ""
            yield f"<div class='card'>{run}{timeline(record.turns, 'AB'[at])}</div>"


def _plot(pair: Pair) -> str:
    figure = next(figure for figure in pair if figure is not None)
    heading = escape(" ".join([figure.group, figure.name]).strip())
    rows = "".join(_numbers(each, at, len(pair)) for at, each in enumerate(pair) if each is not None)
    by = f"{escape(figure.source)}, {escape(figure.unit)}"
    return (
        f"<div class='plot'><div><h3>{heading}</h3><div class='dim'>{by}</div>"
        f"<div class='numbers'>{rows}{_compared(pair)}</div></div><div>{strip(pair)}</div></div>"
    )


def _numbers(figure: Figure, at: int, runs: int) -> str:
    run = f'<span class="run-{"ab"[at]}">{"AB"[at]}</span> ' if runs > 1 else ""
    found = _summary(figure)
    told = ", ".join(f"{name} {value(number, '')}" for name, number in found.items()) or "no samples"
    return f"<div>{run}{escape(told)}</div>"


def _summary(figure: Figure) -> dict[str, float]:
    found: Summary | None = summary(figure.samples)
    if found is None:
        return dict(figure.summarised or {})
    return {"n": found.n, "p50": found.p50, "p95": found.p95, "max": found.max}


def _compared(pair: Pair) -> str:
    """How many times better the second run's median and p95 are than the first's."""
    if len(pair) < 2 or pair[0] is None or pair[1] is None:
        return ""
    old, new = _summary(pair[0]), _summary(pair[1])
    told = [_times(name, old[name], new[name], pair[0].unit) for name in ("p50", "p95") if name in old and name in new]
    return "".join(told)


def _times(name: str, old: float, new: float, unit: str) -> str:
    found = ratio(new, old) if unit in MORE_IS_BETTER else ratio(old, new)
    if found is None:
        return ""
    if f"{found:.2f}" == "1.00":
        return f"<div class='dim'>{name}: the same</div>"
    word, style = ("better", "good") if found > 1 else ("worse", "bad")
    return f"<div class='{style}'>{name}: B is {max(found, 1 / found):.2f} × {word}</div>"


def _facts(records: Sequence[Record]) -> Iterator[str]:
    """Machine and settings, those that differ marked."""
    columns = [
        _machine(record.machine) | {name: str(value) for name, value in record.settings.items()} for record in records
    ]
    yield "<h2>Machine and settings</h2><table>"
    for name in dict.fromkeys(name for column in columns for name in column):
        values = [column.get(name, "–") for column in columns]
        mark = " class='bad'" if len(set(values)) > 1 else ""
        yield f"<tr><th>{escape(name)}</th>{''.join(f'<td{mark}>{escape(each)}</td>' for each in values)}</tr>"
    yield "</table>"


def _machine(machine: Machine) -> dict[str, str]:
    return {
        "cpu": machine.cpu,
        "instructions": " ".join(machine.flags),
        "cores": str(machine.cores),
        "control group's cores": "no limit" if machine.quota is None else f"{machine.quota:g}",
        "memory, MB": str(machine.memory_mb),
        "control group's memory, MB": "no limit" if machine.memory_limit_mb is None else str(machine.memory_limit_mb),
        "load before": f"{machine.load:g}",
        "system": machine.system,
        "python": machine.python,
        **machine.packages,
    }
