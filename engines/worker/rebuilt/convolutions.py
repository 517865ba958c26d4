"""Integer convolutions as products of matrices.

onnxruntime has a fast kernel for ``MatMulInteger`` with signed weights (VNNI) and none for ``ConvInteger``, in which
Kokoro spends half of its time. A convolution over time is a product: each row holds the bytes that one output sees,
gathered by an index that all convolutions of one shape and length share; the columns are the weights, less 128 to be
signed. The bias is added as the float that it is in the original model, which rounds it to an integer each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from engines.worker.rebuilt.editing import Graph, Node

_LEVELS = {
    "A": ("noise_res.0/", "resblocks.0/", "resblocks.1/", "resblocks.2/"),
    "B": ("noise_res.1/", "resblocks.3/", "resblocks.4/", "resblocks.5/"),
}
"""Parts of the vocoder whose convolutions have the same length of input, so that they share an index."""

_BIAS_CHAIN = ("Reshape", "Cast", "Floor", "Div")
"""How the original makes an integer of a float bias, from the last step to the first."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """Of a convolution over time: taps ``width``, from ``channels`` to ``outputs``, ``before`` and ``after`` padded."""

    outputs: int
    channels: int
    width: int
    dilation: int
    stride: int
    before: int
    after: int


def rewrite_convolution(graph: Graph, node: Node) -> None:
    """Put a product of matrices in the place of ``node``, a ``ConvInteger``. Raises ``ValueError`` if it is another."""
    chain = _chain(graph, node)
    result = chain[-1].output[0]
    (scale,) = (name for name in chain[-1].input if name != chain[-2].output[0])
    weights, zero = graph.array(node.input[1]), graph.array(node.input[3])
    shape = _shape(node, weights, zero)
    made = _Made(graph)
    rows = _rows(made, node, shape, result)
    flat = (weights.astype(np.int16) - 128).astype(np.int8).transpose(2, 1, 0)
    signed = graph.constant(f"{node.input[1]}_signed", flat.reshape(shape.width * shape.channels, shape.outputs))
    signed_zero = graph.constant(f"{node.input[3]}_signed", np.int8(int(zero.reshape(())) - 128))
    made.add("MatMulInteger", [rows, signed, node.input[2], signed_zero], f"{result}_int")
    made.add("Cast", [f"{result}_int"], f"{result}_float", to=onnx.TensorProto.FLOAT)
    product = made.add("Mul", [f"{result}_float", scale], f"{result}_scaled")
    if chain[1].op_type == "Add":
        product = made.add("Add", [product, _bias(graph, node, chain[1])], f"{result}_biased")
    made.add("Transpose", [product], f"{result}_by_channel", perm=[1, 0])
    # Not an Unsqueeze: onnxruntime would move the transposition behind it to where it costs more.
    made.add("Reshape", [f"{result}_by_channel", graph.ints(1, shape.outputs, -1)], result)
    graph.replace(chain[-1], made.nodes, chain)


class _Made:
    """The nodes that take a convolution's place; values that convolutions share are made once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[Node] = []

    def add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Make ``output`` by a node of that ``kind``, unless it is made already; return its name."""
        if self.graph.is_first(output):
            self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output


def _chain(graph: Graph, node: Node) -> list[Node]:
    """The convolution and what makes its integers a float: an addition if there is a bias, a cast, the scale."""
    chain = [node]
    while chain[-1].op_type != "Mul":
        chain.append(graph.reader(chain[-1]))
        if chain[-1].op_type not in ("Add", "Cast", "Mul"):
            raise ValueError(f"{node.name}: expected its result to be scaled, found {chain[-1].op_type}")
    return chain


def _shape(node: Node, weights: NDArray[Any], zero: NDArray[Any]) -> _Shape:
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    if weights.dtype != np.uint8 or weights.ndim != 3 or zero.size != 1 or given["group"] != 1:
        raise ValueError(f"{node.name}: expected a convolution over time of unsigned weights with one zero point")
    (dilation,), (stride,), (before, after) = given["dilations"], given["strides"], given["pads"]
    outputs, channels, width = weights.shape
    return _Shape(outputs, channels, width, dilation, stride, before, after)


def _bias(graph: Graph, node: Node, addition: Node) -> str:
    """The float bias behind the integer one."""
    (name,) = (each for each in addition.input if each != node.output[0])
    for kind in _BIAS_CHAIN:
        maker = graph.maker(name, kind)
        if maker is None:
            raise ValueError(f"{node.name}: expected its bias to be made by {kind}")
        name = maker.input[0]
    return str(name)


def _rows(made: _Made, node: Node, shape: _Shape, result: str) -> str:
    """The input's bytes, of shape [1, channels, length], as rows of what each output sees: [outputs in time, bytes]."""
    graph, quantised, zero = made.graph, node.input[0], node.input[2]
    rows = made.add("Transpose", [quantised], f"{quantised}_by_time", perm=[0, 2, 1])
    if shape.width > 1 or shape.stride > 1:
        index = _index(made, node, shape)
        padded = [rows]
        if shape.before:
            padded.insert(0, _zeros(made, quantised, zero, shape.before, shape.channels))
        if shape.after:
            padded.append(_zeros(made, quantised, zero, shape.after, shape.channels))
        if len(padded) > 1:
            rows = made.add("Concat", padded, f"{quantised}_padded_{shape.before}_{shape.after}", axis=1)
        rows = made.add("Gather", [rows, index], f"{result}_taps", axis=1)
    return made.add("Reshape", [rows, graph.ints(-1, shape.width * shape.channels)], f"{result}_rows")


def _zeros(made: _Made, quantised: str, zero: str, count: int, channels: int) -> str:
    return made.add("Expand", [zero, made.graph.ints(1, count, channels)], f"{quantised}_zeros_{count}_{channels}")


def _index(made: _Made, node: Node, shape: _Shape) -> str:
    """``index[i, j]`` is where output ``i`` finds its tap ``j``: stride · i + dilation · j."""
    graph = made.graph
    level = next((name for name, parts in _LEVELS.items() if any(part in node.name for part in parts)), node.name)
    index = f"{level}_index_{shape.width}_{shape.dilation}_{shape.stride}_{shape.before}_{shape.after}"
    reach = shape.dilation * (shape.width - 1) + 1
    made.add("Shape", [node.input[0]], f"{index}_length", start=2, end=3)
    spare = graph.ints(shape.before + shape.after - reach + shape.stride)
    made.add("Add", [f"{index}_length", spare], f"{index}_spare")
    made.add("Div", [f"{index}_spare", graph.ints(shape.stride)], f"{index}_outputs")
    made.add("Squeeze", [f"{index}_outputs"], f"{index}_count")
    made.add("Cast", [f"{index}_count"], f"{index}_count_32", to=onnx.TensorProto.INT32)
    nought, one = graph.constant("int32_0", np.int32(0)), graph.constant("int32_1", np.int32(1))
    made.add("Range", [nought, f"{index}_count_32", one], f"{index}_steps")
    stride = graph.constant(f"int32_{shape.stride}", np.int32(shape.stride))
    made.add("Mul", [f"{index}_steps", stride], f"{index}_starts")
    made.add("Unsqueeze", [f"{index}_starts", graph.ints(1)], f"{index}_column")
    taps = np.arange(shape.width, dtype=np.int32) * np.int32(shape.dilation)
    taps_name = graph.constant(f"taps_{shape.width}_{shape.dilation}", taps)
    return made.add("Add", [f"{index}_column", taps_name], index)
