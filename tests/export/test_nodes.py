import numpy as np
import pytest

from countmorl.export.nodes import Nodes

pytest.importorskip("onnx")


def test_equal_constants_are_kept_once():
    nodes = Nodes()
    assert nodes.double([1, 2]) == nodes.double(np.array([1.0, 2.0]))
    assert nodes.double([1, 2]) != nodes.single([1, 2])
    assert nodes.double([[1, 2]]) != nodes.double([1, 2])
    assert len(nodes.constants) == 3


def test_operations_are_kept_in_order():
    nodes = Nodes()
    total = nodes("Add", "a", "b")
    nodes.named(nodes("Mul", total, total), "out")
    assert [each.op_type for each in nodes.list] == ["Add", "Mul", "Identity"]
    assert list(nodes.list[-1].output) == ["out"]
