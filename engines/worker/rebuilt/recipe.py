"""The recipe: the pinned int8 Kokoro, with the same weights, in a graph that onnxruntime runs faster.

It fits that one file and says so: another one, in which the parts are not found, is refused. The same packages make the
same bytes. docs/decisions/0011-faster-synthesis.md has what was tried and measured.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import onnx

from engines.worker.rebuilt.convolutions import rewrite_convolution
from engines.worker.rebuilt.editing import Graph
from engines.worker.rebuilt.norms import find_norm, rewrite_norm, rewrite_snake

PARTS: Final = Counter(convolutions=87, norms=68, snakes=48)
"""What the pinned file holds."""


def rebuild(source: Path, target: Path) -> None:
    """Write the faster graph of the model at ``source`` to ``target``. Raises ``ValueError`` for another model."""
    model = onnx.load(source)
    graph = Graph(model)
    norms = {norm.last.output[0]: norm for node in graph.nodes if (norm := find_norm(graph, node))}
    for norm in norms.values():
        rewrite_norm(graph, norm)
    found = Counter(norms=len(norms))
    for node in graph.nodes:
        if node.op_type == "ConvInteger":
            rewrite_convolution(graph, node)
            found["convolutions"] += 1
        elif node.op_type == "Sin" and rewrite_snake(graph, node, norms):
            found["snakes"] += 1
    if found != PARTS:
        raise ValueError(f"expected a Kokoro with {dict(PARTS)}, found {dict(found)}")
    graph.finish()
    onnx.save(model, target)
