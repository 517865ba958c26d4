"""The rebuilt Kokoro, kept beside the models under a name that holds its hash, and checked whenever it is loaded."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

import structlog

from engines.worker.cpu import cpu_flags

SOURCE_SHA256: Final = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
"""The pinned ``kokoro-v1.0.int8.onnx``."""

REBUILT_SHA256: Final = "1f4e1f6c81d9c942e38f37ba00cd59cb840b16a7065cc18520d5d40b4eeecdde"
"""What the recipe makes of it, with the packages of ``requirements.lock``."""

FAST_INTEGERS: Final = frozenset({"avx512_vnni", "avx_vnni"})
"""Either, and onnxruntime multiplies unsigned by signed bytes exactly; without, its sums may overflow at 16 bits."""

log = structlog.get_logger()


def fastest(source: Path, kept: Path | None, flags: frozenset[str] | None = None) -> Path:
    """Return the file to load in place of ``source``: the rebuilt model in ``kept``, made now if it is not there.

    ``source`` itself where ``kept`` is ``None``, the CPU (``flags``; by default this machine's) is of another kind, it
    is another model, or the rebuilt one cannot be had; the last is logged, with its reason.
    """
    if kept is None or not FAST_INTEGERS & (cpu_flags() if flags is None else flags):
        return source
    if _sha256(source) != SOURCE_SHA256:
        return source
    target = kept / f"kokoro-{REBUILT_SHA256}.onnx"
    try:
        if not target.is_file() or _sha256(target) != REBUILT_SHA256:
            _make(source, target)
    except (OSError, ImportError, ValueError) as error:
        log.warning("kokoro_not_rebuilt", reason=f"{type(error).__name__}: {error}")
        return source
    return target


def _make(source: Path, target: Path) -> None:
    """Make ``target``, which has its name once its hash is right. Raises ``OSError``, ``ValueError``."""
    from engines.worker.rebuilt.recipe import rebuild  # brings onnx, which is needed this once

    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".making-")
    os.close(handle)
    making = Path(name)
    try:
        rebuild(source, making)
        if (found := _sha256(making)) != REBUILT_SHA256:
            raise ValueError(f"expected sha256 {REBUILT_SHA256}, made {found}; see requirements.lock for the packages")
        making.replace(target)
    finally:
        making.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
