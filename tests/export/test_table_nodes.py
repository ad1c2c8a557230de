"""Packing, hashing, look-up and estimates as operations, against the same in NumPy."""

import numpy as np
import pytest

from countmorl.export.nodes import DOUBLE, INT64, Nodes
from countmorl.export.table_nodes import joined_count, looked_up, packed_bits
from countmorl.runtime.levels import LEVELS, joined, level_of
from countmorl.runtime.tables import Table, Tables, packed

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
BOOL = onnx.TensorProto.BOOL


def run(nodes, kind, given, outputs):
    helper = onnx.helper
    for name, (inner, _) in outputs.items():
        nodes.named(inner, name)
    answers = [helper.make_tensor_value_info(n, k, None) for n, (_, k) in outputs.items()]
    taken = [helper.make_tensor_value_info("given", kind, given.shape)]
    graph = helper.make_graph(nodes.list, "test", taken, answers, nodes.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    session = runtime.InferenceSession(model.SerializeToString())
    return session.run(None, {"given": given})


@pytest.mark.parametrize("bits", [1, 16, 32, 33, 128])
def test_bits_are_packed(bits):
    given, nodes = np.random.default_rng(0).random((2, 50, bits)) > 0.5, Nodes()
    (found,) = run(nodes, BOOL, given, {"words": (packed_bits(nodes, "given", bits), INT64)})
    np.testing.assert_array_equal(found, packed(given))


@pytest.mark.parametrize("words", [1, 2, 5])
def test_codes_are_looked_up(words):
    rng, nodes = np.random.default_rng(words), Nodes()
    seen = rng.integers(0, 2**32, (2, 300, words), np.uint32)
    tables = tuple(Table.of(each[rng.integers(0, 300, 900)]) for each in seen)
    asked = np.concatenate([seen, seen ^ np.uint32(1 << 31)], axis=1)
    outputs = {"found": (looked_up(nodes, "given", tables), INT64)}
    (found,) = run(nodes, INT64, asked.astype(np.int64), outputs)
    np.testing.assert_array_equal(found, Tables(tables).lookup(asked))
    assert found.max() > 3


@pytest.mark.parametrize("estimate", ["LC", "AVG", "UC"])
@pytest.mark.parametrize("members", [1, 4])
def test_counts_are_joined(estimate, members):
    given = np.random.default_rng(0).integers(0, 4, (members, 200)) ** 3
    nodes = Nodes()
    parts = joined_count(nodes, "given", estimate, 0.7, 5.0)
    outputs = {"count": (parts["count"], DOUBLE), "level": (parts["level"], INT64)}
    count, level = run(nodes, INT64, given.astype(np.int64), outputs)
    wanted = joined(given, estimate, 0.7)
    np.testing.assert_array_equal(count, wanted)
    assert np.array(LEVELS)[level].tolist() == level_of(given, wanted, 5.0).tolist()
