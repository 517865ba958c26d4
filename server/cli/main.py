"""The ``relance`` command: its subcommands, and how it fails.

Whatever a user can cause ends in one line ``error: …`` on standard error for each fault, and status 1, or 2 for wrong
usage. A traceback is a defect of the program.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from engines.errors import EngineError
from engines.models import ModelError
from server.auth import NoSecret
from server.cli import bench, models
from server.cli.doctor import doctor
from server.cli.errors import CommandError
from server.cli.exam import exam
from server.cli.serve import serve
from server.cli.token import token
from server.settings import SettingsError
from server.store.errors import StoreError

USER_FAULTS = (CommandError, SettingsError, ModelError, EngineError, StoreError, NoSecret, OSError)
"""Errors whose message is meant for the user."""
INTERRUPTED = 130
"""Status after Ctrl-C, as shells have it: 128 and SIGINT's number."""

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Live oral exams by voice, on your own machine.")
app.command()(serve)
app.command()(doctor)
app.command()(token)
app.command()(exam)
app.add_typer(models.app, name="models")
app.add_typer(bench.app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"relance {version('relance')}")
        except PackageNotFoundError:
            typer.echo("relance, from a source tree that is not installed")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command that the process was started with, and exit with its status."""
    try:
        status = app(standalone_mode=False)
    except typer.TyperException as error:
        if message := error.format_message():  # none where the help was shown instead
            _complain(message)
        status = error.exit_code
    except USER_FAULTS as error:
        for line in _lines(error):
            _complain(line)
        status = 1
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    sys.exit(status)


def _complain(line: str) -> None:
    print(f"error: {line}", file=sys.stderr)


def _lines(error: Exception) -> Iterator[str]:
    """The error's message, a line for each fault."""
    if isinstance(error, SettingsError):
        yield from error.faults
    elif isinstance(error, OSError) and error.strerror:
        yield f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    else:
        yield " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    main()
