"""Files that are made, not downloaded: the same bytes each time, on every machine.

``kokoro-voices``: the voices of Kokoro as kokoro-onnx reads them, a NumPy archive of name -> style vectors. The npm
package kokoro-js holds each voice as raw little-endian float32, ``voices/NAME.bin``. ``numpy.savez`` stores without
compression and with a fixed date, so names in sorted order give the very file of kokoro-onnx's release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from engines.models.archives import read_matching
from engines.models.errors import SourceFailed
from engines.models.shelf import Shelf
from engines.models.sources import Build, Member

_VOICE_SHAPE = (510, 1, 256)
"""One style vector of 256 for each number of phoneme tokens up to 510: Kokoro's own."""


def build(source: Build, into: Path, shelf: Shelf) -> None:
    """Make the file of a recipe at ``into``. Raises SourceFailed."""
    recipe = RECIPES.get(source.recipe)
    if recipe is None:
        raise SourceFailed(str(source), "this version of relance does not know the recipe")
    for archive in shelf.take([source.inputs.package]):
        recipe(archive, source.inputs, into)


def kokoro_voices(archive: Path, inputs: Member, into: Path) -> None:
    """Join the voices in ``archive`` into one NumPy archive. Raises SourceFailed on a voice of another size."""
    voices: dict[str, Any] = {}  # Any, since savez gives its own options the same keyword space
    for path, raw in read_matching(archive, inputs):
        if len(raw) != np.prod(_VOICE_SHAPE) * 4:
            raise SourceFailed(str(inputs.package), f"{path} has {len(raw)} bytes, not float32 {_VOICE_SHAPE}")
        voices[PurePosixPath(path).stem] = np.frombuffer(raw, dtype="<f4").reshape(_VOICE_SHAPE)
    with into.open("wb") as out:
        np.savez(out, **{name: voices[name] for name in sorted(voices)})


RECIPES: Mapping[str, Callable[[Path, Member, Path], None]] = {"kokoro-voices": kokoro_voices}
