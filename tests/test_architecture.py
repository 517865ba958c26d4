"""The import rules of the layers, read from the code itself, and what the server's process must never load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STDLIB = sys.stdlib_module_names

ALLOWED = {
    "server/wire": {"msgspec", "server.wire"},
    "server/exam": {"server.exam", "server.wire"},
    "server/speech": {"numpy", "server.speech"},
}
"""What a layer may import beside the standard library."""


def imports_of(path: Path) -> Iterator[str]:
    """Yield the full name of every module that the file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports are not used"
            yield node.module or ""


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_pure_layer_imports_only_what_it_may(layer: str) -> None:
    """The rules of the exam, the wire and the audio primitives stand without the shell around them."""
    files = list((ROOT / layer).rglob("*.py"))
    assert files
    strays = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in files
        for module in imports_of(path)
        if module.partition(".")[0] not in STDLIB and not any(is_within(module, ok) for ok in ALLOWED[layer])
    ]
    assert strays == []


def test_engines_never_import_the_server() -> None:
    """An engine is used by the exam and knows nothing of it."""
    files = list((ROOT / "engines").rglob("*.py"))
    assert files
    strays = [f"{path}: {module}" for path in files for module in imports_of(path) if is_within(module, "server")]
    assert strays == []


def test_the_live_shell_takes_engines_by_their_protocols() -> None:
    """Only the engine room and what stands in it know which engines there are; a session is given them."""
    free = {"engines.protocols", "engines.errors"}
    strays = [
        f"{path.name}: {module}"
        for path in (ROOT / "server/live").glob("*.py")
        if path.name not in {"engine_room.py", "own_processes.py", "watch.py"}
        for module in imports_of(path)
        if is_within(module, "engines") and module not in free
    ]
    assert strays == []


def test_the_server_process_loads_no_gpl_code() -> None:
    """espeak-ng and phonemizer (GPL-3.0) live in the speech worker's process alone, with the heavy models."""
    script = (
        "import sys, server.app, server.cli.main\n"
        "found = {'phonemizer', 'espeakng_loader', 'piper', 'kokoro_onnx', 'faster_whisper', 'ctranslate2'}\n"
        "found |= {'xllamacpp'}\n"
        "print(sorted(found & {name.partition('.')[0] for name in sys.modules}))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout.strip() == "[]"
