"""A graph that is being rewritten: who makes a value, who reads it, what takes whose place.

Nodes of the original stay where they are until :meth:`Graph.finish`; what takes the place of one is put where it was,
so that every value is still made before it is read.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import numpy_helper

Node = Any
"""``onnx.NodeProto``, whose fields protobuf makes at run time."""


class Graph:
    """The graph of ``model``, which is changed in place by :meth:`finish` alone."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._graph = model.graph
        self._initial = {each.name: each for each in self._graph.initializer}
        self._added: dict[str, Any] = {}
        self._makers = {name: node for node in self._graph.node for name in node.output}
        self._readers: dict[str, list[Node]] = defaultdict(list)
        for node in self._graph.node:
            for name in node.input:
                self._readers[name].append(node)
        self._instead: dict[int, list[Node]] = {}
        self._dropped: set[int] = set()
        self._shared: set[str] = set()

    @property
    def nodes(self) -> list[Node]:
        """The original's nodes, in their order."""
        return list(self._graph.node)

    def is_constant(self, name: str) -> bool:
        """Whether the value is one of the original's weights."""
        return name in self._initial

    def array(self, name: str) -> NDArray[Any]:
        """Return a weight of the original. Raises ``KeyError`` for anything else."""
        array: NDArray[Any] = numpy_helper.to_array(self._initial[name])
        return array

    def maker(self, name: str, kind: str) -> Node:
        """Return the node that makes the value if it is one of that ``kind``, else ``None``."""
        node = self._makers.get(name)
        return node if node is not None and node.op_type == kind else None

    def readers(self, name: str) -> list[Node]:
        """Return the nodes that read the value."""
        return self._readers[name]

    def reader(self, node: Node) -> Node:
        """Return the one node that reads what ``node`` makes. Raises ``ValueError`` when there are more or none."""
        (found,) = self._readers[node.output[0]]
        return found

    def constant(self, name: str, value: ArrayLike) -> str:
        """Add a weight and return its name; one name means one value."""
        array = np.asarray(value)
        self._added[name] = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        return name

    def ints(self, *values: int) -> str:
        """Return the name of a weight that holds these, as int64."""
        return self.constant("_".join(map(str, ("int64", *values))), np.array(values, np.int64))

    def is_first(self, name: str) -> bool:
        """Whether a value that several nodes share has not been asked for before."""
        if name in self._shared:
            return False
        self._shared.add(name)
        return True

    def replace(self, last: Node, instead: list[Node], dropped: list[Node]) -> None:
        """Put ``instead`` where ``last`` is, and take ``dropped`` out."""
        self._instead[id(last)] = instead
        self._dropped.update(map(id, dropped))

    def finish(self) -> None:
        """Write the new nodes and weights into the model; what nothing reads any more is left out."""
        nodes: list[Node] = []
        for node in self._graph.node:
            nodes += self._instead.get(id(node), [] if id(node) in self._dropped else [node])
        outputs = {output.name for output in self._graph.output}
        before = -1
        while before != len(nodes):
            before = len(nodes)
            read = outputs | {name for node in nodes for name in node.input}
            nodes = [node for node in nodes if not read.isdisjoint(node.output)]
        weights = [value for name, value in (self._initial | self._added).items() if name in read]
        del self._graph.node[:], self._graph.initializer[:], self._graph.value_info[:]
        self._graph.node.extend(nodes)
        self._graph.initializer.extend(weights)
