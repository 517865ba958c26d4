"""Probabilities to spans of speech."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.worker.detector import Span, spans


@pytest.mark.parametrize(
    ("probabilities", "found"),
    [
        ([], []),
        ([0.1] * 20, []),
        ([0.9] * 20, [Span(0, 640)]),
        ([0.1] * 5 + [0.9] * 3 + [0.1] * 12, []),
        ([0.1] * 5 + [0.9] * 10 + [0.1] * 5, [Span(130, 510)]),
        ([0.9] * 8 + [0.4] * 4 + [0.9] * 8, [Span(0, 640)]),
        ([0.9] * 8 + [0.1] * 3 + [0.9] * 9, [Span(0, 640)]),
        ([0.9] * 8 + [0.1] * 4 + [0.9] * 8, [Span(0, 286), Span(354, 640)]),
    ],
    ids=["nothing", "silence", "speech", "a click", "a word", "a soft middle", "a short gap", "a pause"],
)
def test_spans_follow_sileros_rules(probabilities: list[float], found: list[Span]) -> None:
    """Clicks are dropped, short gaps bridged, ends padded but never beyond the file."""
    assert spans(probabilities, 640) == found


@given(st.lists(st.floats(0, 1), max_size=200))
def test_spans_are_in_order_apart_and_inside_the_file(probabilities: list[float]) -> None:
    """Whatever the probabilities."""
    total_ms = 32 * len(probabilities)
    edges = [edge for span in spans(probabilities, total_ms) for edge in (span.start, span.end)]
    assert edges == sorted(set(edges))
    assert all(0 <= edge <= total_ms for edge in edges)
