"""The page on settings tells all of them, and nothing else."""

import re
from pathlib import Path

from server.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_and_the_settings_agree() -> None:
    """Every setting has its row, and every row its setting."""
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(Settings.model_fields)


def test_the_page_tells_the_defaults() -> None:
    """A default that is a plain value stands in the setting's row."""
    page = PAGE.read_text("utf-8")
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, int | float | str):
            assert f"| `{name}` | `{field.default}` |" in page
