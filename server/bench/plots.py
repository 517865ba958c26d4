"""Plots as inline SVG. Every sample is a mark of its own, with its value as its title."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from server.bench.figures import quantile
from server.bench.record import Figure, Turn

WIDTH = 640
_LEFT, _RIGHT = 28, 16
_LANE = 26
_ROW = 24
_LABEL = 92

_BARS = (("stt", "stt"), ("llm_first_token", "first token"), ("reply", "reply"), ("tts_first_audio", "first audio"))
"""The server's stages that a turn waits for, and their names on the plot."""


def strip(figures: Sequence[Figure | None]) -> str:
    """Return the samples of one figure in one or two runs on one axis, with median, p95 and what is asked."""
    present = [figure for figure in figures if figure is not None and figure.samples]
    if not present:
        return ""
    limits = [target.limit for figure in present for target in figure.targets]
    low = min(0.0, *(min(figure.samples) for figure in present))
    high = max([*limits, *(max(figure.samples) for figure in present)])
    high = high * 1.04 if high > low else low + 1
    height = _LANE * len(figures) + 22
    parts = [_axis(low, high, _LANE * len(figures), present[0].unit)]
    for at, figure in enumerate(figures):
        if figure is not None and figure.samples:
            parts.append(_lane(figure, "ab"[at], _LANE * at + _LANE / 2, low, high))
    for limit in dict.fromkeys(limits):
        x = _x(limit, low, high)
        parts.append(f'<line class="asked" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{_LANE * len(figures)}"/>')
    return _svg(height, parts, present[0].name)


def timeline(turns: Sequence[Turn], run: str) -> str:
    """Return turns as rows on one axis: speech, silence, what the candidate waited, and the server's stages below.

    Where a stage lies the server does not tell: its stages are drawn one after another, so that the last ends at the
    first frame, or begin where the pause was seen when they were done before the decision.
    """
    low, high = _span(turns)
    height = _ROW * len(turns) + 22
    rows = [_row(turn, _ROW * at, low, high) for at, turn in enumerate(turns)]
    return _svg(height, [_axis(low, high, _ROW * len(turns), "ms", _LABEL), *rows], f"turns of run {run}")


def _lane(figure: Figure, run: str, middle: float, low: float, high: float) -> str:
    dots = "".join(
        f'<circle cx="{_x(sample, low, high):.1f}" cy="{middle + _jitter(at):.1f}" r="2.6">'
        f"<title>{escape(value(sample, figure.unit))}</title></circle>"
        for at, sample in enumerate(figure.samples)
    )
    marks = "".join(
        f'<path class="{name}" d="M{_x(quantile(figure.samples, share), low, high):.1f} {middle - 10:.1f}v20">'
        f"<title>{name} {escape(value(quantile(figure.samples, share), figure.unit))}</title></path>"
        for name, share in (("p50", 0.5), ("p95", 0.95))
    )
    return f'<g class="{run}">{dots}{marks}<text x="2" y="{middle + 4:.1f}">{run.upper()}</text></g>'


def _jitter(at: int) -> float:
    """A place across the lane that is the same each time: the golden ratio's multiples spread evenly."""
    return (at * 0.618034 % 1 - 0.5) * 13


def _span(turns: Sequence[Turn]) -> tuple[float, float]:
    marks = [mark for turn in turns for mark in turn.marks_ms.values()]
    return min(0.0, *marks), max([1.0, *marks]) * 1.04


def _row(turn: Turn, top: float, low: float, high: float) -> str:
    marks = turn.marks_ms
    spoken, decided = marks.get("speech begun", 0.0), marks.get("decision", marks.get("interruption_start", 0.0))
    first = marks.get("first frame")
    bars = [_bar("speech", spoken, 0.0, top, low, high, f"speech {value(-spoken, 'ms')}")]
    bars.append(_bar("silence", 0.0, decided, top, low, high, f"to the decision {value(decided, 'ms')}"))
    if first is not None:
        bars.append(_bar("gap", decided, first, top, low, high, f"gap {value(first - decided, 'ms')}"))
        bars += _stages(turn, first, top, low, high)
    label = f'<text x="2" y="{top + 13}">{turn.session}.{turn.number}{" ✗" if turn.faults else ""}</text>'
    told = "; ".join([*(f"{name} {value(at, 'ms')}" for name, at in marks.items()), *turn.faults])
    return f'<g class="{"out" if turn.faults else "turn"}"><title>{escape(told)}</title>{label}{"".join(bars)}</g>'


def _stages(turn: Turn, first: float, top: float, low: float, high: float) -> list[str]:
    """The stages that lead to the first audio; ``reply`` is what is left of it besides its own parts."""
    took = {name: turn.stages[name].total_ms / turn.stages[name].count for name, _ in _BARS if name in turn.stages}
    if "reply" in took:
        took["reply"] = max(0.0, took["reply"] - took.get("llm_first_token", 0.0) - took.get("tts_first_audio", 0.0))
    pause, whole = turn.marks_ms.get("pause seen", 0.0), sum(took.values())
    at = pause if pause + whole < turn.marks_ms.get("decision", 0.0) else first - whole
    bars = []
    for name, label in _BARS:
        if name in took:
            told = f"{label} {value(took[name], 'ms')}, the server says"
            bars.append(_bar(f"stage {name}", at, at + took[name], top + 12, low, high, told, 5))
            at += took[name]
    return bars


def _bar(
    kind: str, begun: float, ended: float, top: float, low: float, high: float, title: str, height: float = 10
) -> str:
    x, end = _x(max(begun, low), low, high, _LABEL), _x(max(ended, low), low, high, _LABEL)
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{top + 3:.1f}" width="{max(end - x, 1):.1f}" height="{height}" rx="2">'
        f"<title>{escape(title)}</title></rect>"
    )


def _axis(low: float, high: float, bottom: float, unit: str, left: float = _LEFT) -> str:
    step = _step((high - low) / 9)
    ticks = [step * at for at in range(math.ceil(low / step), math.floor(high / step) + 1)]
    lines = (
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>'
        f'<text class="tick" x="{x:.1f}" y="{bottom + 14}">{tick:g}</text>'
        for tick in ticks
        for x in [_x(tick, low, high, left)]
    )
    return "".join(lines) + f'<text class="tick" x="{WIDTH - _RIGHT + 2}" y="{bottom + 14}">{escape(unit)}</text>'


def _step(about: float) -> float:
    """The round number (1, 2 or 5 times a power of ten) next above ``about``."""
    power = 10.0 ** math.floor(math.log10(about))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= about * (1 - 1e-9))


def _x(at: float, low: float, high: float, left: float = _LEFT) -> float:
    return left + (at - low) / (high - low) * (WIDTH - left - _RIGHT - 12)


def value(number: float, unit: str) -> str:
    """Return a sample as it was measured, with its unit."""
    return f"{number:.6g} {unit}".rstrip()


def _svg(height: float, parts: Sequence[str], title: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(part for part in parts if part)}</svg>"
    )
