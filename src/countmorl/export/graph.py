"""`policy.onnx`: observation in; action, count and level out, as one graph of plain operations.

It computes what `runtime.bundle` does, in the same types: products of matrices in 64 bits, what
rows are scaled by in 32. So the codes of pairs come out the same, bit by bit, and with them the
counts; actions are equal but for the last bit of a hyperbolic tangent.

A graph has no memory and refuses nothing: history stands in the observation, and an observation
that is far from the log, or no number, is level 0, unseen.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.errors import ConfigError
from countmorl.export.nodes import Nodes
from countmorl.export.table_nodes import joined_count, looked_up, packed_bits
from countmorl.extras import require
from countmorl.files import atomic
from countmorl.runtime.bundle import Bundle, RangedCounts
from countmorl.runtime.coding import Layers, LearnedCodes, Places, Projections
from countmorl.runtime.contract import Ranges
from countmorl.runtime.counts import Counts
from countmorl.runtime.levels import LEVELS
from countmorl.runtime.neighbours import TIE, Neighbours
from countmorl.runtime.policy import Policy
from countmorl.runtime.tabular import TabularCounts, TabularPolicy
from countmorl.spaces import ActionSpace

OPSET, IR = 18, 9
BIGGEST = float(np.finfo(np.float32).max)


def write_graph(bundle: Bundle, path: Path) -> None:
    """Write a bundle's graph, atomically."""
    content = graph_of(bundle).SerializeToString()
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def graph_of(bundle: Bundle) -> Any:
    """The graph of a bundle's policy and counts, as an ONNX model."""
    nodes, policy = Nodes(), bundle.policy
    outputs = {}
    if isinstance(policy, TabularPolicy):
        state = nodes("Cast", nodes("Squeeze", "obs", nodes.whole([1])), to=7)
        chosen = nodes.whole(policy.probabilities.argmax(axis=1))
        outputs["action"] = nodes("Gather", chosen, state, axis=0)
    else:
        outputs["action"] = _action(nodes, policy)
    if bundle.counts is not None:
        outputs |= _counted(nodes, bundle, outputs["action"])
    return _model(nodes, bundle, outputs)


def _action(nodes: Nodes, policy: Policy) -> str:
    x = nodes(
        "Div", nodes("Sub", "obs", nodes.single(policy.obs_mean)), nodes.single(policy.obs_std)
    )
    x = nodes.wide(x)
    for weight, bias in zip(policy.weights[:-1], policy.biases[:-1], strict=True):
        layer = nodes("Add", nodes("MatMul", x, nodes.double(weight)), nodes.double(bias))
        x = nodes("Max", layer, nodes.double(0.0))
    weight, bias, space = policy.weights[-1], policy.biases[-1], policy.space
    if policy.head == "tanh_normal":  # The mean alone; the graph does not draw.
        weight, bias = weight[:, : space.size], bias[: space.size]
    y = nodes("Add", nodes("MatMul", x, nodes.double(weight)), nodes.double(bias))
    if policy.discrete:
        return nodes("ArgMax", y, axis=1, keepdims=0)
    middle, half = (space.high + space.low) / 2, (space.high - space.low) / 2
    moved = nodes("Mul", nodes.double(half), nodes("Tanh", y))
    action = nodes("Add", nodes.double(middle), moved)
    inside = nodes("Max", nodes("Min", action, nodes.double(space.high)), nodes.double(space.low))
    return nodes.narrow(inside)


def _counted(nodes: Nodes, bundle: Bundle, action: str) -> dict[str, str]:
    """Count and level, as the bundle's own counts have them."""
    counts = bundle.counts
    inner = counts.inner if isinstance(counts, RangedCounts) else counts
    near = _near(nodes, bundle.ranges)
    if isinstance(inner, TabularCounts):
        state = nodes("Cast", "obs", to=7)
        pair = nodes("Concat", state, nodes("Unsqueeze", action, nodes.whole([1])), axis=1)
        found = nodes("GatherND", nodes.whole(inner.policy.counts), pair)
        members = nodes("Unsqueeze", found, nodes.whole([0]))
        estimate, alpha = "AVG", 0.0
    elif isinstance(inner, Neighbours):
        members, estimate, alpha = _neighbours(nodes, inner, action), "AVG", 0.0
    elif isinstance(inner, Counts):
        members = _members(nodes, inner, action)
        estimate, alpha = inner.use.estimate, inner.use.alpha
    else:
        raise ConfigError(
            f"Counts of the kind {type(inner).__name__} have no graph; leave it out with --no-onnx."
        )
    members = nodes("Where", near, members, nodes.whole(0))
    return joined_count(nodes, members, estimate, alpha, inner.thin)


def _near(nodes: Nodes, ranges: Ranges) -> str:
    """Whether observations lie where the log was; what is no number does not."""
    obs = nodes.wide("obs")
    above = nodes("GreaterOrEqual", obs, nodes.double(ranges.least))
    below = nodes("LessOrEqual", obs, nodes.double(ranges.most))
    return nodes.every(nodes("And", above, below), axis=1)


def _members(nodes: Nodes, counts: Counts, action: str) -> str:
    """Every member's count of the pairs, [members, n]."""
    x = _standardized(nodes, counts, action)
    wide = nodes.wide(x)
    coder = counts.coder
    if isinstance(coder, LearnedCodes):
        words, known = _learned(nodes, coder, wide)
    elif isinstance(coder, Projections):
        bits = nodes(
            "Greater", nodes("MatMul", wide, nodes.double(coder.projections)), nodes.double(0.0)
        )
        words, known = packed_bits(nodes, bits, coder.projections.shape[2]), ""
    else:
        words, known = _places(nodes, coder, x)
    finite = nodes("LessOrEqual", nodes("Abs", wide), nodes.double(BIGGEST))
    finite = nodes.every(finite, axis=1)
    known = nodes("And", known, finite) if known else finite
    found = looked_up(nodes, words, counts.tables.each)
    return nodes("Where", known, found, nodes.whole(0))


def _neighbours(nodes: Nodes, counts: Neighbours, action: str) -> str:
    """How many logged rows reach each pair, [1, n]."""
    x = _scaled(nodes, "obs", counts.obs_mean, counts.obs_std)
    if not counts.space.discrete:
        vectors = _vectors(nodes, counts.space, action)
        moved = _scaled(nodes, vectors, counts.action_mean, counts.action_std)
        x = nodes("Concat", x, moved, axis=1)
    wide, rows = nodes.wide(x), np.float64(counts.place)
    own = nodes("ReduceSum", nodes("Mul", wide, wide), nodes.whole([1]), keepdims=1)
    both = nodes("Add", own, nodes.double(np.square(rows).sum(axis=1)))
    products = nodes("Mul", nodes("MatMul", wide, nodes.double(rows.T)), nodes.double(2.0))
    apart = nodes("Max", nodes("Sub", both, products), nodes.double(0.0))
    if counts.space.discrete:
        kind = nodes("Unsqueeze", action, nodes.whole([1]))
        alike = nodes("Equal", kind, nodes.whole(counts.kind))
        apart = nodes("Where", alike, apart, nodes.double(np.inf))
    least = nodes("ReduceMin", apart, nodes.whole([1]), keepdims=1)
    nearest = nodes("LessOrEqual", apart, nodes("Add", least, nodes.double(TIE)))
    limit, reach = (nodes.double(np.square(np.float64(e))) for e in (counts.limit, counts.reach))
    near = nodes("And", nearest, nodes("LessOrEqual", apart, limit))
    near = nodes("ReduceMax", nodes("Cast", near, to=7), nodes.whole([1]), keepdims=0)
    within = nodes("Cast", nodes("LessOrEqual", apart, reach), to=7)
    found = nodes("Mul", near, nodes("ReduceSum", within, nodes.whole([1]), keepdims=0))
    return nodes("Unsqueeze", found, nodes.whole([0]))


def _scaled(nodes: Nodes, x: str, mean: np.ndarray, std: np.ndarray) -> str:
    """Scaled as distances are measured: all columns together weigh one."""
    divisor = nodes.single(np.where(std == 0, np.float32(1), std))
    scaled = nodes("Div", nodes("Sub", x, nodes.single(mean)), divisor)
    return nodes("Mul", scaled, nodes.single(len(mean) ** -0.5))


def _standardized(nodes: Nodes, counts: Counts, action: str) -> str:
    pairs = nodes("Concat", "obs", _vectors(nodes, counts.space, action), axis=1)
    std = np.where(counts.std == 0, np.float32(1), counts.std)
    return nodes("Div", nodes("Sub", pairs, nodes.single(counts.mean)), nodes.single(std))


def _vectors(nodes: Nodes, space: ActionSpace, action: str) -> str:
    """Actions as vectors between -1 and 1."""
    if space.discrete:
        numbers = nodes.whole(np.arange(space.size))
        same = nodes("Equal", nodes("Unsqueeze", action, nodes.whole([1])), numbers)
        return nodes("Cast", same, to=1)
    if not ((space.low != -1).any() or (space.high != 1).any()):
        return action
    above = nodes("Mul", nodes("Sub", action, nodes.single(space.low)), nodes.single(2))
    part = nodes("Div", above, nodes.single(space.high - space.low))
    scaled = nodes("Sub", part, nodes.single(1))
    return nodes("Clip", scaled, nodes.single(-1), nodes.single(1))


def _learned(nodes: Nodes, coder: LearnedCodes, x: str) -> tuple[str, str]:
    hidden = x
    for index, (weight, bias) in enumerate(coder.trunk):
        hidden = nodes("Add", nodes("MatMul", hidden, nodes.double(weight)), nodes.double(bias))
        if coder.gains:
            hidden = nodes("Mul", nodes.double(coder.gains[index]), _normalized(nodes, hidden))
        hidden = _swish(nodes, hidden)
    logits = _through(nodes, coder.encoder, hidden)
    bits = nodes("Greater", logits, nodes.double(0.0))
    words = packed_bits(nodes, bits, coder.encoder_biases[-1].shape[1])
    if not len(coder.limits):
        return words, ""
    rebuilt = _through(nodes, coder.decoder, _sigmoid(nodes, logits))
    apart = nodes("Sub", rebuilt, x)
    error = nodes.mean(nodes("Mul", apart, apart), keep=False)
    return words, nodes("LessOrEqual", error, nodes.double(coder.limits[:, None]))


def _places(nodes: Nodes, coder: Places, x: str) -> tuple[str, str]:
    """The place of each number; no two known ones lie within one's slack."""
    numbers = nodes("Unsqueeze", x, nodes.whole([2]))
    apart = nodes("Abs", nodes("Sub", nodes.single(coder.values), numbers))
    there = nodes("LessOrEqual", apart, nodes.single(coder.slack[:, None]))
    flags = nodes("Cast", there, to=1)
    words = nodes("ArgMax", flags, axis=2, keepdims=0)
    any_there = nodes(
        "Greater", nodes("ReduceMax", flags, nodes.whole([2]), keepdims=0), nodes.single(0)
    )
    return nodes("Unsqueeze", words, nodes.whole([0])), nodes.every(any_there, axis=1)


def _through(nodes: Nodes, net: Layers, x: str) -> str:
    for index, (weight, bias) in enumerate(net):
        x = nodes("Add", nodes("MatMul", x, nodes.double(weight)), nodes.double(bias))
        x = x if index == len(net) - 1 else _swish(nodes, x)
    return x


def _swish(nodes: Nodes, x: str) -> str:
    return nodes("Mul", x, _sigmoid(nodes, x))


def _sigmoid(nodes: Nodes, x: str) -> str:
    """Not by the operation of that name: some runtimes fuse it into one that has no 64 bits."""
    one = nodes.double(1.0)
    return nodes("Div", one, nodes("Add", one, nodes("Exp", nodes("Neg", x))))


def _normalized(nodes: Nodes, x: str) -> str:
    centred = nodes("Sub", x, nodes.mean(x))
    variance = nodes.mean(nodes("Mul", centred, centred))
    return nodes("Div", centred, nodes("Sqrt", nodes("Add", variance, nodes.double(1e-5))))


def _model(nodes: Nodes, bundle: Bundle, outputs: dict[str, str]) -> Any:
    onnx = require("onnx")
    helper, types = onnx.helper, onnx.TensorProto
    contract = bundle.contract
    width = len(contract.observation)
    kinds = {"action": types.FLOAT, "count": types.DOUBLE, "level": types.INT64}
    if contract.discrete:
        kinds["action"] = types.INT64
    shapes = {"action": ["n"] if contract.discrete else ["n", len(contract.action)]}
    given = helper.make_tensor_value_info("obs", types.FLOAT, ["n", width])
    for name, inner in outputs.items():
        nodes.named(inner, name)
    answers = [
        helper.make_tensor_value_info(name, kinds[name], shapes.get(name, ["n"]))
        for name in outputs
    ]
    graph = helper.make_graph(nodes.list, "policy", [given], answers, nodes.constants)
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR,
        producer_name="countmorl",
        producer_version=contract.origin.countmorl,
    )
    about = {
        "observation": [each.name for each in contract.observation],
        "action": [each.name for each in contract.action],
        "levels": list(LEVELS),
    }
    helper.set_model_props(model, {name: json.dumps(value) for name, value in about.items()})
    onnx.checker.check_model(model)
    return model
