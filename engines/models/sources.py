"""Where a model file may come from, as written in the lock: ``SCHEME:ADDRESS``.

A source is data; the modules ``web``, ``joining`` and ``recipes`` do the work. ``str(source)`` is a short form for
people: the parts of a joined file are counted, not listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

WebHost = Literal["hf", "github"]


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file behind HTTPS: ``path`` is what follows the host's address."""

    host: WebHost
    path: str
    written: str

    def __str__(self) -> str:
        return self.written


@dataclass(frozen=True, slots=True)
class Package:
    """One release of one package of a registry."""

    registry: Literal["pypi", "npm"]
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.registry}:{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a package. ``path`` may hold ``*`` in an npm package."""

    package: Package
    path: str


@dataclass(frozen=True, slots=True)
class Packed:
    """A file in one package, or in parts over several, joined in order."""

    parts: tuple[Member, ...]

    def __str__(self) -> str:
        more = f" and {len(self.parts) - 1} more" if len(self.parts) > 1 else ""
        return f"{self.parts[0].package}{more}"


@dataclass(frozen=True, slots=True)
class Build:
    """A file that the recipe of that name makes from ``inputs``."""

    recipe: str
    inputs: Member

    def __str__(self) -> str:
        return f"build:{self.recipe} from {self.inputs.package}"


Source = WebFile | Packed | Build

_HF = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})/(?P<path>\S+)")
_GITHUB = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)@(?P<tag>[\w.-]+)/(?P<asset>\S+)")
_PYPI = re.compile(r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>[\w.]+)/(?P<path>[^\s+]+)")
_NPM = re.compile(r"(?P<name>(@[\w.-]+/)?[\w.-]+)@(?P<version>[\w.-]+)/(?P<path>\S+)")


def parse(written: str, recipes: Mapping[str, Member]) -> Source:
    """Read a source as the lock writes it; ``recipes`` has the inputs of each known recipe.

    Raises ValueError that says which form was expected.
    """
    scheme, _, address = written.partition(":")
    match scheme:
        case "hf":
            found = _match(_HF, address, "hf:OWNER/REPO@REVISION/PATH with a revision of 40 hex digits")
            return WebFile("hf", f"{found['repo']}/resolve/{found['revision']}/{found['path']}", written)
        case "github":
            found = _match(_GITHUB, address, "github:OWNER/REPO@TAG/ASSET")
            return WebFile("github", _github_path(found), written)
        case "pypi":
            return Packed(tuple(_wheel_member(part) for part in address.split("+")))
        case "npm":
            return Packed((npm_member(written),))
        case "build" if address in recipes:
            return Build(address, recipes[address])
        case "build":
            raise ValueError(f"no recipe {address!r}; the lock has {', '.join(recipes) or 'none'}")
        case _:
            raise ValueError(f"unknown scheme in {written!r}; expected hf, github, pypi, npm or build")


def npm_member(written: str) -> Member:
    """Read ``npm:NAME@VERSION/PATH``. Raises ValueError on another form."""
    found = _match(_NPM, written.removeprefix("npm:"), "npm:NAME@VERSION/PATH")
    return Member(Package("npm", found["name"], found["version"]), found["path"])


def _wheel_member(written: str) -> Member:
    found = _match(_PYPI, written, "pypi:NAME==VERSION/PATH, parts joined by +")
    return Member(Package("pypi", found["name"], found["version"]), found["path"])


def _github_path(found: re.Match[str]) -> str:
    """Release assets have no slash in their names; what has one is a file of the repository."""
    if "/" in found["asset"]:
        return f"{found['repo']}/raw/{found['tag']}/{found['asset']}"
    return f"{found['repo']}/releases/download/{found['tag']}/{found['asset']}"


def _match(pattern: re.Pattern[str], text: str, form: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise ValueError(f"expected {form}, found {text!r}")
    return found
