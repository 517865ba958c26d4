"""What everything stands on: libraries, memory, the data directory, the port, the secret of tokens."""

from __future__ import annotations

import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

import httpx

from engines.models import Profile
from engines.worker.__main__ import MIN_ONNXRUNTIME
from server.auth.local_secret import FILE_NAME
from server.cli.errors import CommandError
from server.cli.serve import EVERYWHERE, listen
from server.doctor.findings import Finding, fault, not_checked, ok
from server.doctor.in_force import bare, place
from server.settings import Settings
from server.settings.consistency import MIN_SECRET_BYTES

LEAST_FREE_BYTES: Final = 200 << 20
"""For the database, the bank of sentences (5 MB) and some months of transcripts."""

SPEECH_BYTES: Final = 700 << 20
"""The speech worker's memory, 615 MB with the base model (docs/worker.md)."""

LLM_FACTOR, LLM_BYTES = 1.7, 200 << 20
"""llama.cpp's memory by its file's size: 340 MB for SmolLM's 98 MB, 2.0 GB for Qwen's 1.1 GB (docs/worker.md)."""

_PROBE_S: Final = 2.0


def check_onnxruntime() -> Finding:
    """Check the floor of the version, below which voices are noise on some processors."""
    found, least = version("onnxruntime"), ".".join(map(str, MIN_ONNXRUNTIME))
    if tuple(int(part) for part in found.split(".")[:2]) >= MIN_ONNXRUNTIME:
        return ok("onnxruntime", found)
    told = f"expected version {least} or later, got {found}, which computes noise on some processors"
    return fault("onnxruntime", told, f"Run: pip install 'onnxruntime>={least}'.")


def check_memory(settings: Settings, profile: Profile, meminfo: Path = Path("/proc/meminfo")) -> Finding:
    """Check roughly whether the engines of this machine fit into the memory that is available now."""
    needed, own = 0, settings.own_kinds()
    if own & {"stt", "tts"}:
        needed += SPEECH_BYTES
    if "llm" in own:
        needed += round(profile.artifacts["llm"].size_bytes * LLM_FACTOR) + LLM_BYTES
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        available = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return not_checked("memory", "this system does not tell how much is available")
    told = f"{available / 1e9:.1f} GB available, about {needed / 1e9:.1f} GB needed for the engines of this machine"
    if available >= needed:
        return ok("memory", told)
    mend = (
        f"End other programs, take a smaller profile ({place('profile')}), or set RELANCE_LLM_URL to a model elsewhere."
    )
    return fault("memory", told, mend)


def check_data_dir(data_dir: Path) -> Finding:
    """Check that files can be made there; none is left. A directory that is not there yet is made by the server."""
    told = f"{data_dir} cannot be written"
    mend = f"Have it belong to the user that serves, or set {place('data_dir')} to another directory."
    try:
        there = nearest_directory(data_dir)
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return fault("data_dir", f"{told}: {error.strerror}", mend)
    if free < LEAST_FREE_BYTES:
        told = f"expected {LEAST_FREE_BYTES / 1e6:.0f} MB free in {data_dir}, got {free / 1e6:.0f} MB"
        return fault("data_dir", told, f"Free some, or set {place('data_dir')} to another disk.")
    state = "can be written" if there == data_dir else "is not there yet, and can be made"
    return ok("data_dir", f"{data_dir} {state}, {free / 1e9:.1f} GB free")


def nearest_directory(path: Path) -> Path:
    """Return ``path``, or the nearest above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def check_tokens(settings: Settings) -> Finding:
    """Check what tokens are checked with: a secret, local or configured, or a key set at an address."""
    if settings.jwks_url is not None:
        return _check_key_set(settings.jwks_url)
    if settings.jwt_secret is not None:
        return ok("tokens", f"{settings.jwt_algorithm}, with the configured secret")
    path = settings.data_dir / FILE_NAME
    try:
        length = len(path.read_bytes().strip())
    except (FileNotFoundError, NotADirectoryError):
        return ok("tokens", "no secret yet: the server makes a local one at its first start")
    except OSError as error:
        return fault("tokens", f"{path} cannot be read: {error.strerror}", "Have it belong to the user that serves.")
    if length < MIN_SECRET_BYTES:
        told = f"expected a secret of at least {MIN_SECRET_BYTES} bytes in {path}, got {length}"
        return fault("tokens", told, "Delete the file: the server makes another secret.")
    return ok("tokens", f"HS256, with the local secret {path}")


def _check_key_set(address: str) -> Finding:
    mend = f"Set {place('jwks_url')} to the address of the issuer's key set."
    try:
        answer = httpx.get(address, timeout=_PROBE_S)
        answer.raise_for_status()
        count = len(answer.json()["keys"])
    except httpx.HTTPStatusError as error:
        return fault("tokens", f"expected a key set at {bare(address)}, got {error.response.status_code}", mend)
    except httpx.HTTPError as error:
        return fault("tokens", f"expected a key set at {bare(address)}, no answer came ({type(error).__name__})", mend)
    except (ValueError, KeyError, TypeError):
        return fault("tokens", f"expected a key set at {bare(address)}, got something else", mend)
    return ok("tokens", f"key set of {count} at {bare(address)}")


def check_port(host: str, port: int) -> Finding:
    """Check that the server could listen; one of ours that is running there already is no fault."""
    if not port:
        return ok("port", f"a free one of {host}")
    try:
        listen(host, port).close()
    except CommandError as error:
        if _is_ours(host, port):
            return ok("port", f"{port} of {host} is in use by a relance server that is running")
        told = str(error).partition(";")[0]
        return fault("port", told, f"End what uses it, or set {place('port')} or {place('host')} to another.")
    return ok("port", f"{port} of {host} is free")


def _is_ours(host: str, port: int) -> bool:
    shown = EVERYWHERE.get(host, host)
    try:
        url = httpx.URL(scheme="http", host=shown, port=port, path="/readyz")
        answer = httpx.get(url, timeout=_PROBE_S, trust_env=False).json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return False
    return isinstance(answer, dict) and {"ready", "engines"} <= answer.keys()
