from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from server.exam.brief import Screen

HERE = Path(__file__).parent

Rows = list[dict[str, str]]


@pytest.fixture(scope="session")
def table() -> Callable[[str], Rows]:
    """Reads a table of labelled sentences by its path beside the tests."""

    def read(name: str) -> Rows:
        with (HERE / name).open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    return read


@pytest.fixture(scope="session")
def answers() -> Callable[[str], Rows]:
    """Reads what a model answered."""

    def read(model: str) -> Rows:
        lines = (HERE / "outputs" / f"{model}.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    return read


@pytest.fixture(scope="session")
def spoken() -> Callable[[Screen, list[str]], list[str]]:
    """Gives an answer's sentences to a screen and returns all that passed."""

    def run(screen: Screen, sentences: list[str]) -> list[str]:
        passed = [text for sentence in sentences for text in screen.feed(sentence)]
        return passed + screen.finish()

    return run
