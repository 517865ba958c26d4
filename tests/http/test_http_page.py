"""The pages on HTTP and on storage tell what there is, and nothing else."""

import re
from pathlib import Path
from typing import Any

from prometheus_client import Counter

from server.http.application import application
from server.metrics import Metrics
from server.settings import Settings
from server.store.tables import metadata

DOCS = Path(__file__).parents[2] / "docs"


def first_cells(page: str, heading: str = "") -> list[str]:
    """The words in the first cells of a page's tables, from ``heading`` on."""
    text = (DOCS / page).read_text("utf-8").partition(heading)[2] if heading else (DOCS / page).read_text("utf-8")
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def test_every_route_is_on_the_page(stand_in: Any, tmp_path: Path) -> None:
    """Each plain route has its row, and each row its route."""
    services = stand_in.StandIn(Settings(data_dir=tmp_path))
    routes = [route.path for route in application(services).routes]
    assert sorted(cell for cell in first_cells("http.md") if cell.startswith("/")) == sorted(routes)


def test_every_figure_is_on_the_page() -> None:
    """Each metric has its row with its labels, and each row its metric."""
    page = (DOCS / "http.md").read_text("utf-8")
    told = dict(re.findall(r"^\| `(relance_\w+)` \| ([\w, ]*) ?\|", page, re.MULTILINE))
    there = {}
    for figure in vars(Metrics()).values():
        if hasattr(figure, "_labelnames"):
            name = figure._name + ("_total" if isinstance(figure, Counter) else "")
            there[name] = ", ".join(figure._labelnames)
    assert {name: labels.strip() for name, labels in told.items()} == there


def test_every_column_is_on_the_page() -> None:
    """Each table's columns are told, in their order."""
    page = (DOCS / "storage.md").read_text("utf-8")
    for table in metadata.tables.values():
        (cell,) = re.findall(rf"^\| `{table.name}` \| [^|]+ \| (.+) \|$", page, re.MULTILINE)
        assert re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", cell)) == [column.name for column in table.columns]
