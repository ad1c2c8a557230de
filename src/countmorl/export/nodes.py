"""`Nodes`: an ONNX graph written down as calls: `nodes("Add", a, b)` gives the name of the sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from countmorl.extras import require

FLOAT, INT64, DOUBLE = 1, 7, 11
"""Types of tensors by the numbers that ONNX gives them."""


class Nodes:
    """The operations of a graph in order, and its constants."""

    def __init__(self) -> None:
        self.list: list[Any] = []
        self.constants: list[Any] = []
        self._helper = require("onnx").helper
        self._numpy = require("onnx.numpy_helper")
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def __call__(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operation; return the name of what it gives."""
        name = f"{kind.lower()}_{len(self.list)}"
        self.list.append(self._helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def named(self, inner: str, name: str) -> None:
        """Give a result the name of an output."""
        self.list.append(self._helper.make_node("Identity", [inner], [name]))

    def double(self, values: ArrayLike) -> str:
        """A constant of 64 bits."""
        return self._constant(np.asarray(values, np.float64))

    def single(self, values: ArrayLike) -> str:
        """A constant of 32 bits."""
        return self._constant(np.asarray(values, np.float32))

    def whole(self, values: ArrayLike) -> str:
        """A constant of whole numbers."""
        return self._constant(np.asarray(values, np.int64))

    def wide(self, x: str) -> str:
        """The same in 64 bits."""
        return self("Cast", x, to=DOUBLE)

    def narrow(self, x: str) -> str:
        """The same in 32 bits."""
        return self("Cast", x, to=FLOAT)

    def mean(self, x: str, *, keep: bool = True) -> str:
        """The mean over the last axis."""
        return self("ReduceMean", x, self.whole([-1]), keepdims=int(keep))

    def every(self, flags: str, *, axis: int) -> str:
        """Whether all flags along an axis are true."""
        least = self("ReduceMin", self("Cast", flags, to=INT64), self.whole([axis]), keepdims=0)
        return self("Equal", least, self.whole(1))

    def _constant(self, array: np.ndarray) -> str:
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = f"constant_{len(self.constants)}"
            self.constants.append(self._numpy.from_array(array, self._known[key]))
        return self._known[key]
