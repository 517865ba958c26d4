"""The lock file: the one list of model files and of the profiles made of them.

The file lies at the project's root; ``engines/models/models.lock`` is a link to it, so that an installed wheel
carries it and an editable install reads the root's own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from engines.models import sources
from engines.models.errors import LockInvalid, UnknownProfile
from engines.models.sources import Member, Source
from engines.protocols import Language

Role = Literal["vad", "stt", "llm", "tts", "voices"]
ROLES: tuple[Role, ...] = ("vad", "stt", "llm", "tts", "voices")

LOCK_PATH = Path(__file__).with_name("models.lock")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One pinned file. ``path`` is relative to its artifact's directory; ``size_bytes`` is None where unknown."""

    path: str
    size_bytes: int | None
    sha256: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Artifact:
    """One model: a directory of the store. ``licence`` is an SPDX expression."""

    name: str
    title: str
    licence: str
    files: tuple[ModelFile, ...]

    @property
    def size_bytes(self) -> int:
        """The sum of the known sizes."""
        return sum(file.size_bytes or 0 for file in self.files)


@dataclass(frozen=True, slots=True)
class Profile:
    """A set of models that work together, one artifact for each role, with the language and voice to use."""

    name: str
    purpose: str
    language: Language
    voice: str
    artifacts: Mapping[Role, Artifact]

    @property
    def size_bytes(self) -> int:
        """The sum of the known sizes of all its files."""
        return sum(artifact.size_bytes for artifact in self.artifacts.values())

    def files(self) -> Iterator[tuple[Artifact, ModelFile]]:
        """Every file of the profile with its artifact, in the order of the roles."""
        for artifact in self.artifacts.values():
            for file in artifact.files:
                yield artifact, file


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file that has been read and checked."""

    artifacts: Mapping[str, Artifact]
    profiles: Mapping[str, Profile]

    def profile(self, name: str) -> Profile:
        """Return the profile of that name. Raises UnknownProfile."""
        if name not in self.profiles:
            raise UnknownProfile(name, self.profiles)
        return self.profiles[name]


def load_lock(path: Path = LOCK_PATH) -> Lock:
    """Read and check the lock file. Raises LockInvalid that names the place."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LockInvalid(str(path), error.strerror or "cannot be read") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LockInvalid(str(path), str(error)) from error
    return parse_lock(tables)


def parse_lock(tables: Mapping[str, Any]) -> Lock:
    """Make a lock of TOML tables. Raises LockInvalid that names the place."""
    written = _convert("top level", tables, _Written)
    recipes = {
        name: _recipe_inputs(f"recipes.{name}", _convert(f"recipes.{name}", table, _Recipe))
        for name, table in written.recipes.items()
    }
    artifacts = {name: _artifact(name, table, recipes) for name, table in written.artifacts.items()}
    profiles = {name: _profile(name, table, artifacts) for name, table in written.profiles.items()}
    return Lock(artifacts, profiles)


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    version: Literal[1]
    artifacts: dict[str, Any]
    profiles: dict[str, Any]
    recipes: dict[str, Any] = {}


class _Recipe(msgspec.Struct, forbid_unknown_fields=True):
    inputs: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    size_bytes: Annotated[int, msgspec.Meta(gt=0)] | Literal["unknown"]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    sources: Annotated[list[str], msgspec.Meta(min_length=1)]


class _Artifact(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    licence: str
    files: Annotated[list[_File], msgspec.Meta(min_length=1)]


class _Profile(msgspec.Struct, forbid_unknown_fields=True):
    purpose: str
    language: Language
    voice: str
    vad: str
    stt: str
    llm: str
    tts: str
    voices: str


_T = TypeVar("_T")


def _convert(place: str, table: object, to: type[_T]) -> _T:
    try:
        return msgspec.convert(table, to)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        raise LockInvalid(place + path.rstrip("`"), reason) from error


def _recipe_inputs(place: str, recipe: _Recipe) -> Member:
    try:
        return sources.npm_member(recipe.inputs)
    except ValueError as error:
        raise LockInvalid(f"{place}.inputs", str(error)) from error


def _artifact(name: str, table: object, recipes: Mapping[str, Member]) -> Artifact:
    place = f"artifacts.{name}"
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name):
        raise LockInvalid(place, "expected a name of a-z, 0-9, dot, hyphen and underscore")
    written = _convert(place, table, _Artifact)
    files = tuple(_file(f"{place}.files[{n}]", file, recipes) for n, file in enumerate(written.files))
    if len({file.path for file in files}) < len(files):
        raise LockInvalid(f"{place}.files", "expected each path once")
    return Artifact(name, written.title, written.licence, files)


def _file(place: str, written: _File, recipes: Mapping[str, Member]) -> ModelFile:
    path = PurePosixPath(written.path)
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise LockInvalid(f"{place}.path", f"expected a path inside the artifact's directory, found {written.path!r}")
    try:
        from_where = tuple(sources.parse(source, recipes) for source in written.sources)
    except ValueError as error:
        raise LockInvalid(f"{place}.sources", str(error)) from error
    size_bytes = None if written.size_bytes == "unknown" else written.size_bytes
    return ModelFile(written.path, size_bytes, written.sha256, from_where)


def _profile(name: str, table: object, artifacts: Mapping[str, Artifact]) -> Profile:
    written = _convert(f"profiles.{name}", table, _Profile)
    chosen: dict[Role, Artifact] = {}
    for role in ROLES:
        artifact = getattr(written, role)
        if artifact not in artifacts:
            raise LockInvalid(f"profiles.{name}.{role}", f"no artifact {artifact!r}")
        chosen[role] = artifacts[artifact]
    return Profile(name, written.purpose, written.language, written.voice, chosen)
