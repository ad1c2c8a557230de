"""From pairs to codes: what a counter has learned, without JAX.

Sums run in 64 bits, so that every program that computes a code, whatever its order, gives the same
bits: with 32, a number near a code's edge would fall on this side here and on that side there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from countmorl.runtime.tables import packed

Layers = tuple[tuple[np.ndarray, np.ndarray], ...]
"""Weights [members, inputs, outputs] and biases [members, 1, outputs]."""
NORM_SLACK = 1e-5
"""Added to a layer's variance before it is divided by its root."""
Stored = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedCodes:
    """The rounded bottleneck of each elite's encoder, on its second hidden layer."""

    trunk_weights: tuple[np.ndarray, ...]
    trunk_biases: tuple[np.ndarray, ...]
    trunk_gains: tuple[np.ndarray, ...] = ()
    """Of normalised hidden layers; none: they are not normalised."""
    hidden_mean: np.ndarray
    hidden_std: np.ndarray
    encoder_weights: tuple[np.ndarray, ...]
    encoder_biases: tuple[np.ndarray, ...]
    decoder_weights: tuple[np.ndarray, ...] = ()
    decoder_biases: tuple[np.ndarray, ...] = ()
    limits: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    """The largest error of each decoder with which a code counts; none: all codes count."""

    @property
    def members(self) -> int:
        """How many codes a pair has."""
        return len(self.hidden_mean)

    @property
    def inputs(self) -> int:
        """Numbers of a pair."""
        return self.trunk_weights[0].shape[1]

    @property
    def words(self) -> int:
        """Words of a code."""
        return -(-self.encoder_biases[-1].shape[1] // 32)

    def codes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes, and whether each is verified by its decoder."""
        with np.errstate(over="ignore", invalid="ignore"):
            whole = x.astype(np.float64)
            logits = through(self.encoder, self.hidden(whole))
            known = is_finite(x)
            if len(self.limits):
                rebuilt = through(self.decoder, sigmoid(logits))
                apart = rebuilt - whole
                error = (apart * apart).sum(axis=-1) / apart.shape[-1]
                known = known & (error <= self.limits[:, None])
            else:
                known = np.broadcast_to(known, logits.shape[:-1])
        return packed(logits > 0), known

    def hidden(self, x: np.ndarray) -> np.ndarray:
        """The second hidden layer of each elite, [members, n, units]."""
        for index, (weight, bias) in enumerate(self.trunk):
            x = x @ weight + bias
            x = swish(self.gains[index] * normalized(x) if self.gains else x)
        return x

    @cached_property
    def trunk(self) -> Layers:
        """The two layers, in 64 bits."""
        return layers(self.trunk_weights, self.trunk_biases)

    @cached_property
    def gains(self) -> tuple[np.ndarray, ...]:
        """[members, 1, units] each."""
        return tuple(gain.astype(np.float64)[:, None] for gain in self.trunk_gains)

    @cached_property
    def encoder(self) -> Layers:
        """The encoder's layers; the first takes the hidden layer as it is, scaling and all."""
        (weight, bias), *others = layers(self.encoder_weights, self.encoder_biases)
        mean = self.hidden_mean.astype(np.float64)[:, None]
        std = np.where(self.hidden_std == 0, 1, self.hidden_std).astype(np.float64)[:, None]
        weight = weight / std.transpose(0, 2, 1)
        return ((weight, bias - mean @ weight), *others)

    @cached_property
    def decoder(self) -> Layers:
        """The decoder's layers."""
        return layers(self.decoder_weights, self.decoder_biases)

    def problem(self) -> str | None:
        """Why no code can be made; None where it can."""
        nets = {
            "trunk": (self.trunk_weights, self.trunk_biases, self.inputs_or_none),
            "encoder": (self.encoder_weights, self.encoder_biases, self.hidden_mean.shape[-1]),
        }
        if len(self.limits):
            code = self.encoder_biases[-1].shape[-1] if self.encoder_biases else 0
            nets["decoder"] = (self.decoder_weights, self.decoder_biases, code)
        for name, (weights, biases, size) in nets.items():
            if not fits(weights, biases, len(self.hidden_mean), size):
                return f"the layers of its {name} do not fit together"
        if len(self.trunk_weights) != 2 or any(
            gain.shape != bias.shape
            for gain, bias in zip(self.trunk_gains, self.trunk_biases, strict=False)
        ):
            return "its trunk is not one of two layers"
        shape = self.trunk_biases[-1].shape
        if self.hidden_mean.shape != shape or self.hidden_std.shape != shape:
            return "the scale of its hidden layer is of another size"
        if (self.hidden_std < 0).any():
            return "the scale of its hidden layer is negative"
        if len(self.limits) and (
            self.limits.shape != (self.members,) or self.decoder_biases[-1].shape[-1] != self.inputs
        ):
            return "its decoder rebuilds something else than pairs"
        return None

    @property
    def inputs_or_none(self) -> int:
        """Numbers of a pair, 0 where the first layer is none."""
        shape = self.trunk_weights[0].shape if self.trunk_weights else ()
        return shape[1] if len(shape) == 3 else 0

    def to_arrays(self) -> Stored:
        """Every array by its name in a file."""
        return named_arrays(self)


@dataclass(frozen=True, eq=False, kw_only=True)
class Projections:
    """SimHash: the signs of random projections."""

    projections: np.ndarray
    """[members, inputs, bits]"""

    @property
    def members(self) -> int:
        """How many codes a pair has."""
        return len(self.projections)

    @property
    def inputs(self) -> int:
        """Numbers of a pair."""
        return self.projections.shape[1]

    @property
    def words(self) -> int:
        """Words of a code."""
        return -(-self.projections.shape[2] // 32)

    def codes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes; all of them may be counted."""
        with np.errstate(over="ignore", invalid="ignore"):
            signs = x.astype(np.float64) @ self.projections.astype(np.float64) > 0
        return packed(signs), np.broadcast_to(is_finite(x), signs.shape[:-1])

    def problem(self) -> str | None:
        """Why no code can be made; None where it can."""
        sound = self.projections.ndim == 3 and self.projections.size
        return None if sound else "its projections are none"

    def to_arrays(self) -> Stored:
        """Every array by its name in a file."""
        return named_arrays(self)


@dataclass(frozen=True, eq=False, kw_only=True)
class Places:
    """Exact codes: the place of each number among those that its column has in the log."""

    values: np.ndarray
    """Distinct numbers of each column in order, filled up with infinities, [inputs, distinct]."""
    slack: np.ndarray
    """How far a number may lie from one of its column's and still be that one, [inputs]."""

    members = 1

    @property
    def inputs(self) -> int:
        """Numbers of a pair."""
        return len(self.values)

    @property
    def words(self) -> int:
        """Words of a code."""
        return len(self.values)

    def codes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The places; only a pair whose every number has one may be counted."""
        columns = zip(self.values, self.slack, x.T, strict=True)
        with np.errstate(invalid="ignore", over="ignore"):
            found = np.stack([nearest_place(*each) for each in columns], axis=-1)
        known = (found < self.values.shape[1]).all(axis=-1)
        return found.astype(np.uint32)[None], known[None]

    def problem(self) -> str | None:
        """Why no code can be made; None where it can."""
        values, slack = self.values, self.slack
        if values.ndim != 2 or slack.shape != values.shape[:1] or not values.size:
            return "its columns of known numbers are none"
        with np.errstate(invalid="ignore"):  # Between two infinities.
            steps = np.diff(values, axis=1)[np.isfinite(values[:, 1:])]
        sound = np.isfinite(values[:, 0]).all() and (steps > 0).all() and (slack > 0).all()
        return None if sound else "the known numbers of its columns are not in order"

    def to_arrays(self) -> Stored:
        """Every array by its name in a file."""
        return named_arrays(self)


Coder = LearnedCodes | Projections | Places
"""Gives every member's code of standardised pairs, and says which of them may be counted."""
CODERS: dict[str, type[LearnedCodes] | type[Projections] | type[Places]] = {
    "codes": LearnedCodes,
    "simhash": Projections,
    "exact": Places,
}
"""What makes codes, by the name of the counter."""


def nearest_place(known: np.ndarray, slack: Any, numbers: np.ndarray) -> np.ndarray:
    """The place of each number among known ones; how many those are where it is none of them."""
    padded = known if len(known) > 1 else np.append(known, np.float32(np.inf))
    above = np.clip(np.searchsorted(padded, numbers), 1, len(padded) - 1)
    below = padded[above - 1]
    nearer = np.where(numbers - below < padded[above] - numbers, above - 1, above)
    there = np.abs(padded[nearer] - numbers) <= slack
    return np.where(there, nearer, len(known))


def layers(weights: tuple[np.ndarray, ...], biases: tuple[np.ndarray, ...]) -> Layers:
    """Stacked layers in 64 bits."""
    pairs = zip(weights, biases, strict=True)
    return tuple((w.astype(np.float64), b.astype(np.float64)[:, None]) for w, b in pairs)


def through(net: Layers, x: np.ndarray) -> np.ndarray:
    """Stacked networks of swish units with a linear end."""
    for weight, bias in net[:-1]:
        x = swish(x @ weight + bias)
    return x @ net[-1][0] + net[-1][1]


def swish(x: np.ndarray) -> np.ndarray:
    """x sigmoid(x)."""
    return x * sigmoid(x)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def normalized(x: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1 over the last axis."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + NORM_SLACK)


def is_finite(x: np.ndarray) -> np.ndarray:
    """Whether every number of each pair is one."""
    return np.asarray(np.isfinite(x).all(axis=-1))


def fits(
    weights: tuple[np.ndarray, ...], biases: tuple[np.ndarray, ...], members: int, size: int
) -> bool:
    """Whether stacked layers fit together, from inputs of a size on."""
    if not weights or len(weights) != len(biases):
        return False
    for weight, bias in zip(weights, biases, strict=True):
        sound = weight.ndim == 3 and bias.ndim == 2 and bias.shape == weight.shape[::2]
        if not sound or weight.shape[:2] != (members, size) or not weight.size:
            return False
        size = weight.shape[2]
    return True


def named_arrays(coder: Any) -> Stored:
    """The arrays of a coder by the names of its fields; several of one have numbers."""
    found: Stored = {}
    for each in fields(coder):
        value = getattr(coder, each.name)
        several = isinstance(value, tuple)
        found |= {f"{each.name}.{i}": one for i, one in enumerate(value)} if several else {}
        found |= {} if several else {each.name: value}
    return found


def stored_coder(kind: str, arrays: Mapping[str, np.ndarray]) -> Coder:
    """The coder that a file holds; what it lacks is a KeyError."""
    cls = CODERS[kind]
    given: dict[str, Any] = {}
    for each in fields(cls):
        several = tuple(numbered(arrays, each.name))
        given[each.name] = several if str(each.type).startswith("tuple") else arrays[each.name]
    return cls(**given)


def numbered(arrays: Mapping[str, np.ndarray], name: str) -> Iterator[np.ndarray]:
    """Arrays whose names are a word and a number, from 0 on."""
    index = 0
    while (key := f"{name}.{index}") in arrays:
        yield arrays[key]
        index += 1
