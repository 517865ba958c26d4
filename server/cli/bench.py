"""``relance bench``: what a candidate waits for, and how fast the engines are."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import structlog
import typer
from rich.console import Console

from server.cli.errors import CommandError
from server.cli.exam import Profile, Task
from server.client.errors import ClientError

if TYPE_CHECKING:
    from server.bench.record import Record

app = typer.Typer(no_args_is_help=True, help="Measure turns, engines and load; draw the figures.")

ProfileOption = Annotated[Profile | None, typer.Option(help="Profile of the private server, and of its engines.")]
AudioOption = Annotated[list[Path] | None, typer.Option(help="The candidate's voice; none: synthetic questions.")]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write every sample, machine and settings here.")]
UrlOption = Annotated[str | None, typer.Option(help="A running server, ws://HOST:PORT; none: a private one.")]
TokenOption = Annotated[str | None, typer.Option(envvar="RELANCE_TOKEN", help="Token for --url; none: made here.")]
SilenceOption = Annotated[int, typer.Option(min=500, max=10_000, help="T2: the silence that ends a turn, in ms.")]


@app.command()
def turns(
    task: Annotated[Task, typer.Option(help="t1, the relances, or t2, the answers.")] = Task.T2,
    turns: Annotated[int, typer.Option(min=1, max=1000, help="Turns of the candidate, or relances.")] = 20,
    audio: AudioOption = None,
    silence_ms: SilenceOption = 2000,
    profile: ProfileOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    json: JsonOption = None,
) -> None:
    """Drive a real server as a candidate would, and measure at the socket what the candidate waits for."""
    from server.bench.run_turns import Wanted, run_turns

    _check_place(url, profile, task)
    wanted = Wanted(task.value, turns, tuple(audio or ()), silence_ms, profile and profile.value, url, token)
    _conclude(json, lambda console: run_turns(wanted, _say(console)))


@app.command()
def engines(
    stock: Annotated[bool, typer.Option(help="The stock library calls as well, on the same input.")] = False,
    audio: AudioOption = None,
    text: Annotated[Path | None, typer.Option(help="The words of --audio, for its word errors.")] = None,
    texts: Annotated[int, typer.Option(min=1, max=50, help="Texts that the voice speaks.")] = 50,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Dialogues with the language model.")] = 10,
    profile: ProfileOption = None,
    json: JsonOption = None,
) -> None:
    """Time each engine as the server calls it, in processes of our own."""
    from server.bench.run_engines import Wanted, run_engines

    _refuse_if(text is not None and not audio, "--text has the words of --audio, and there is none")
    wanted = Wanted(profile and profile.value, tuple(audio or ()), text, texts, rounds, stock)
    _conclude(json, lambda console: run_engines(wanted, _say(console)))


@app.command()
def load(
    sessions: Annotated[list[int], typer.Option(min=1, max=64, help="Candidates at once; again for more numbers.")],
    task: Annotated[Task, typer.Option(help="t1 or t2.")] = Task.T2,
    minutes: Annotated[float, typer.Option(min=0.1, max=14, help="How long they speak, for each number.")] = 2.0,
    audio: AudioOption = None,
    silence_ms: SilenceOption = 2000,
    profile: ProfileOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
    json: JsonOption = None,
) -> None:
    """Have many candidates sit at one server at once; say what they wait for and what each costs."""
    from server.bench.run_load import Wanted, run_load

    _check_place(url, profile, task)
    chosen = profile and profile.value
    wanted = Wanted(task.value, tuple(sessions), minutes, tuple(audio or ()), silence_ms, chosen, url, token)
    _conclude(json, lambda console: run_load(wanted, _say(console)))


@app.command()
def report(
    a: Annotated[Path, typer.Argument(metavar="A.json", help="A run, as --json wrote it.")],
    html: Annotated[Path, typer.Option(help="Write the page to this file.")],
    b: Annotated[Path | None, typer.Argument(metavar="[B.json]", help="Another, compared with the first.")] = None,
) -> None:
    """Draw one run, or two next to each other, as one HTML page that needs nothing else."""
    from server.bench.page import page
    from server.bench.record import BenchError, read

    try:
        records = [read(path) for path in (a, b) if path is not None]
    except BenchError as fault:
        raise CommandError(str(fault)) from fault
    _refuse_if(
        len({record.kind for record in records}) > 1, f"{a} and {b} are of different kinds, there is nothing to compare"
    )
    try:
        html.write_text(page(records), encoding="utf-8")
    except OSError as fault:
        raise CommandError(f"cannot write {html}: {fault.strerror}") from fault


def _check_place(url: str | None, profile: Profile | None, task: Task) -> None:
    _refuse_if(bool(url and profile), "--profile is for a private server: the one at --url has its own")
    _refuse_if(bool(url) and task is Task.T1, "t1 needs a private server: of another, the drawn times are not known")


def _conclude(json: Path | None, run: Callable[[Console], Record]) -> None:
    """Have a measurement done; print it, and write it to ``json``."""
    from server.bench.record import write
    from server.bench.tables import print_record

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    console = Console(highlight=False, emoji=False)
    with _told_in_a_line():
        _check_writable(json)
        record = run(console)
        print_record(record, console)
        if json is not None:
            write(record, json)


@contextmanager
def _told_in_a_line() -> Iterator[None]:
    """Turn what a user can cause into the command's one line; let SIGTERM stop what was started on the way out."""
    from server.bench.record import BenchError

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except (BenchError, ClientError) as fault:
        raise CommandError(str(fault)) from fault
    except ExceptionGroup as group:
        known, others = group.split((BenchError, ClientError))
        if others is not None or known is None:
            raise
        raise CommandError(str(_first(known))) from group


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _check_writable(path: Path | None) -> None:
    """Find out before a long measurement whether its record can be written; leave nothing behind."""
    if path is None:
        return
    try:
        is_new = not path.exists()
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as fault:
        raise CommandError(f"cannot write {path}: {fault.strerror}") from fault


def _refuse_if(wrong: bool, message: str) -> None:
    if wrong:
        raise CommandError(message)


def _say(console: Console) -> Callable[[str], None]:
    return lambda line: console.print(line, markup=False, soft_wrap=True, style="dim")
