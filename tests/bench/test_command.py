"""``relance bench`` as a user meets it, and its page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from server.bench.record import Record, write
from server.cli.bench import app

PAGE = (Path(__file__).parents[2] / "docs" / "benchmarks" / "README.md").read_text("utf-8")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def bench(models_dir: Path, tmp_path: Path) -> Run:
    """Run the command in an empty directory."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "server.cli.main", "bench", *arguments]
        env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path)}
        env |= {"RELANCE_MODELS_DIR": str(models_dir), "RELANCE_PROFILE": "ci"}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, check=False)

    return run


def test_a_report_is_drawn_from_files(bench: Run, record: Callable[..., Record], tmp_path: Path) -> None:
    """One run or two; the page is written and nothing is printed."""
    write(record(), tmp_path / "a.json")
    ran = bench("report", "a.json", "a.json", "--html", "page.html")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert "p50: the same" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("report", "none.json", "--html", "p.html"), "cannot read none.json: No such file or directory"),
        (("report", "text.json", "--html", "p.html"), "text.json is not JSON"),
        (("report", "new.json", "--html", "p.html"), "new.json is of version 9, this program reads up to 1"),
        (("turns", "--url", "ws://127.0.0.1:9", "--token", "t", "--audio", "text.json"), "text.json is not audio"),
        (("turns", "--url", "ws://127.0.0.1:9", "--audio", "hello.flac", "--token", "t"), "no server at http"),
        (("turns", "--task", "t1", "--url", "ws://127.0.0.1:9"), "t1 needs a private server"),
        (("engines", "--text", "text.json"), "--text has the words of --audio"),
        (("turns", "--json", "none/t.json"), "cannot write none/t.json: No such file or directory"),
    ],
)
def test_what_a_user_can_cause_is_one_line(bench: Run, tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    """Status 1 and one line that says what is wrong; no traceback."""
    (tmp_path / "text.json").write_text("no JSON, no audio")
    (tmp_path / "new.json").write_text('{"version": 9}')
    hello = Path(__file__).parents[2] / "engines" / "proofs" / "en.flac"
    (tmp_path / "hello.flac").write_bytes(hello.read_bytes())
    ran = bench(*arguments)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"error: {told}")
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "t.json").exists()


def test_the_page_names_the_options_that_there_are() -> None:
    """Every option of every command is on the page, and every option on the page exists."""
    group = typer.main.get_command(app)
    commands = group.commands.values()  # type: ignore[attr-defined]
    exist = {name for command in commands for parameter in command.params for name in parameter.opts}
    exist = {name for name in exist if name.startswith("--")} - {"--help"}
    assert exist == set(re.findall(r"--[a-z]+(?:-[a-z]+)*", PAGE))
