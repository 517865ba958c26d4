"""``relance models``: fetch, verify, list and locate the pinned models, and carry them where there is no network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engines.models import ModelError, Store, export_archive, fetch, import_archive, load_lock
from engines.models.errors import HashMismatch
from engines.models.events import Event, MemberLeft
from engines.models.fetch import missing_files
from engines.models.lock import Artifact, ModelFile, Profile
from engines.models.store import RELANCE_MODELS_DIR
from server.cli.fetch_screen import FetchScreen

app = typer.Typer(no_args_is_help=True, help="Fetch, verify, list, locate, export and import the pinned models.")

ProfileName = Annotated[str, typer.Argument(metavar="[PROFILE]", help="A profile of models.lock.")]
ArchivePath = Annotated[Path, typer.Argument(metavar="FILE", help="The archive.")]
StoreDir = Annotated[
    Path | None,
    typer.Option("--dir", envvar=RELANCE_MODELS_DIR, help="The model store. [default: ~/.cache/relance/models]"),
]


@app.command("fetch")
def fetch_command(profile: ProfileName = "fr", directory: StoreDir = None) -> None:
    """Bring the profile's models to the store; what is there and verified is left alone."""
    chosen, store = load_lock().profile(profile), Store(directory)
    with FetchScreen() as screen:
        brought = fetch(chosen, store, screen.show)
    if brought:
        typer.echo(f"{profile}: {_size(chosen.size_bytes)} of models in {store.root}, every hash checked")
    else:
        typer.echo(f"{profile}: nothing to fetch, all files are in {store.root}")


@app.command("export")
def export_command(file: ArchivePath, profile: ProfileName = "fr", directory: StoreDir = None) -> None:
    """Write the profile's models to one archive, for a machine without a network."""
    chosen, store = load_lock().profile(profile), Store(directory)
    with FetchScreen() as screen:
        export_archive(chosen, store, file, screen.show)
    typer.echo(f"{profile}: {_size(file.stat().st_size)} in {file}, every hash checked")
    typer.echo(f"on the other machine, run: relance models import {file.name}")


@app.command("import")
def import_command(file: ArchivePath, directory: StoreDir = None) -> None:
    """Take the models out of an archive, each once its hash is right; what is there and verified is left alone."""
    store = Store(directory)
    with FetchScreen() as screen:

        def show(event: Event) -> None:
            if isinstance(event, MemberLeft):  # the name is anyone's: what would move the cursor is shown, not done
                typer.echo(f"not taken: {event.name!r}, {event.reason}", err=True)
            else:
                screen.show(event)

        imported = import_archive(file, load_lock(), store, show)
    name, taken = imported.profile.name, len(imported.taken)
    if taken:
        typer.echo(f"{name}: {taken} files from {file} in {store.root}, every hash checked")
    else:
        typer.echo(f"{name}: nothing to import, all files are in {store.root}")


@app.command("verify")
def verify_command(profile: ProfileName = "fr", directory: StoreDir = None) -> None:
    """Read every file of the profile again and check its hash."""
    chosen, store = load_lock().profile(profile), Store(directory)
    bad = 0
    for artifact, file in chosen.files():
        state = _state(store, artifact, file)
        bad += state != "ok"
        typer.echo(f"{state:<8} {store.place(artifact, file)}")
    if bad:
        raise ModelError(f"{bad} files of {profile} are missing or wrong; run: {store.fetch_command(chosen)}")


@app.command("list")
def list_command(directory: StoreDir = None) -> None:
    """List profiles and artifacts with their sizes and licences, and which are in the store."""
    lock, store = load_lock(), Store(directory)
    for profile in lock.profiles.values():
        typer.echo(f"{profile.name:<10}{_size(profile.size_bytes):>8}   {_presence(profile, store)}  {profile.purpose}")
    typer.echo()
    for artifact in lock.artifacts.values():
        typer.echo(f"{artifact.name:<28} {_size(artifact.size_bytes):>8}  {artifact.licence:<11} {artifact.title}")


@app.command("path")
def path_command(profile: ProfileName = "fr", directory: StoreDir = None) -> None:
    """Print what each role loads: one line with the role, a tab and the path."""
    chosen, store = load_lock().profile(profile), Store(directory)
    for role in chosen.artifacts:
        typer.echo(f"{role}\t{store.path(chosen, role)}")


def _state(store: Store, artifact: Artifact, file: ModelFile) -> str:
    try:
        store.rehash(artifact, file)
    except FileNotFoundError:
        return "missing"
    except HashMismatch:
        return "wrong"
    return "ok"


def _presence(profile: Profile, store: Store) -> str:
    missing = sum(map(len, missing_files(profile, store).values()))
    return "in the store " if not missing else f"{missing:>2} files short"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.0f} MB"
