"""Normalisations and activations of the vocoder, each in one operation where the model spells it out in many.

AdaIN is ``(x − mean) / √(variance + ε) · gain + shift`` over time: an ``InstanceNormalization`` whose gain and shift
are computed. The snake activation behind it, ``v + sin(αv)² / α``, wants ``αv``: α goes into gain and shift, which are
short, so that no pass over the audio multiplies by it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import helper

from engines.worker.rebuilt.editing import Graph, Node


@dataclass(frozen=True, slots=True)
class Norm:
    """An AdaIN: its last node, the names of its input, gain and shift, and ε."""

    last: Node
    x: str
    gain: str
    shift: str
    epsilon: float


def find_norm(graph: Graph, node: Node) -> Norm | None:
    """Return the AdaIN that ends with the addition ``node``, if one does."""
    if node.op_type != "Add":
        return None
    for place in (0, 1):
        product = graph.maker(node.input[place], "Mul")
        for factor in (0, 1) if product else ():
            found = _quotient(graph, product.input[factor])
            if found:
                x, epsilon = found
                return Norm(node, x, product.input[1 - factor], node.input[1 - place], epsilon)
    return None


def _quotient(graph: Graph, name: str) -> tuple[str, float] | None:
    """``(x − mean(x)) / √(mean((x − mean(x))²) + ε)``, both means over time: x and ε."""
    quotient = graph.maker(name, "Div")
    less = quotient and graph.maker(quotient.input[0], "Sub")
    root = quotient and graph.maker(quotient.input[1], "Sqrt")
    mean = less and graph.maker(less.input[1], "ReduceMean")
    spare = root and graph.maker(root.input[0], "Add")
    variance = spare and graph.maker(spare.input[0], "ReduceMean")
    square = variance and graph.maker(variance.input[0], "Mul")
    if not (square and mean) or list(square.input) != [less.output[0]] * 2 or mean.input[0] != less.input[0]:
        return None
    if any(graph.array(each.input[1]).tolist() != [2] for each in (mean, variance)):
        return None
    return str(less.input[0]), float(graph.array(spare.input[1]))


def rewrite_norm(graph: Graph, norm: Norm, alpha: str | None = None) -> None:
    """Put one operation in its place; with ``alpha``, the name of a weight of shape [channels], its result is αv."""
    result = norm.last.output[0]
    nodes, ends = [], []
    for name, end in ((norm.gain, f"{result}_gain"), (norm.shift, f"{result}_shift")):
        nodes.append(helper.make_node("Reshape", [name, graph.ints(-1)], [end]))
        if alpha:
            nodes.append(helper.make_node("Mul", [end, alpha], [f"{end}_alpha"]))
        ends.append(f"{end}_alpha" if alpha else end)
    nodes.append(helper.make_node("InstanceNormalization", [norm.x, *ends], [result], epsilon=norm.epsilon))
    graph.replace(norm.last, nodes, [norm.last])


def rewrite_snake(graph: Graph, sine: Node, norms: dict[str, Norm]) -> bool:
    """Put a shorter snake in the place of the one around ``sine``; return whether it is one behind a norm.

    Raises ``ValueError`` when it only looks like one.
    """
    scaled = graph.maker(sine.input[0], "Mul")
    if scaled is None or not graph.is_constant(scaled.input[0]) or scaled.input[1] not in norms:
        return False
    v = scaled.input[1]
    power = graph.reader(sine)
    part = graph.reader(power)
    last = graph.reader(part)
    alpha, reciprocal = graph.array(scaled.input[0]).reshape(-1), part.input[0]
    is_snake = (
        [power.op_type, part.op_type, last.op_type] == ["Pow", "Mul", "Add"]
        and float(graph.array(power.input[1])) == 2
        and np.allclose(alpha * graph.array(reciprocal).reshape(-1), 1, rtol=1e-4)
        and set(last.input) == {v, part.output[0]}
        and len(graph.readers(v)) == 2
    )
    if not is_snake:
        raise ValueError(f"{sine.name}: expected v + sin(αv)² / α")
    rewrite_norm(graph, norms[v], graph.constant(f"{scaled.input[0]}_flat", alpha))
    result = last.output[0]
    nodes = [
        helper.make_node("Sin", [v], [f"{result}_sine"]),
        helper.make_node("Mul", [f"{result}_sine"] * 2, [f"{result}_square"]),
        helper.make_node("Add", [v, f"{result}_square"], [f"{result}_sum"]),
        helper.make_node("Mul", [f"{result}_sum", reciprocal], [result]),
    ]
    graph.replace(last, nodes, [sine, scaled, power, part, last])
    return True
