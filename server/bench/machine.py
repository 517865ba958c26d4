"""The machine that a figure belongs to, as far as the operating system tells."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from server import cores
from server.bench.record import Machine

PACKAGES = ("onnxruntime", "ctranslate2", "faster-whisper", "kokoro-onnx", "xllamacpp", "numpy")
"""Whose versions figures depend on."""

WIDE = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_bf16", "amx_int8", "asimd", "sve")
"""Instructions that decide how fast a CPU infers."""

_MB = 1024 * 1024


def this_machine() -> Machine:
    """Return what this machine is, and how busy it was when asked."""
    told = _cpu()
    return Machine(
        cpu=told.get("model name") or platform.processor() or platform.machine(),
        flags=tuple(flag for flag in WIDE if flag in (told.get("flags") or told.get("Features") or "").split()),
        cores=len(os.sched_getaffinity(0)),
        quota=cores.quota(),
        memory_mb=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MB,
        memory_limit_mb=_memory_limit(),
        load=round(os.getloadavg()[0], 2),
        system=platform.platform(),
        python=platform.python_version(),
        packages={name: package_version(name) for name in PACKAGES},
    )


def package_version(name: str) -> str:
    """Return the version of an installed package, or ``not installed``."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _cpu() -> dict[str, str]:
    """The first processor of ``/proc/cpuinfo``."""
    pairs = (line.partition(":") for line in _text(Path("/proc/cpuinfo")).split("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _memory_limit() -> int | None:
    limit = _text(cores.CGROUPS / "memory.max").strip()
    return int(limit) // _MB if limit.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
