"""What follows on a step, foretold by a small fixed model, so that new dynamics can be noticed.

Not the run's own ensemble: this one is solved in closed form, needs NumPy alone, and only has to be
wrong today in the way in which it was wrong in training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FEATURES = 128
"""Random features beside the plain numbers, at the most."""
ROWS_EACH = 100
"""Rows there must be for each of them: few enough that rows it was fitted on look like others."""
FAR = 5.0
"""Deviations from the mean beyond which an input counts as so far."""
RIDGE = 1e-3
"""Weight of the penalty, for each row."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Foretold:
    """y = [1, x, tanh(x W + b)] C, of standardised numbers."""

    mean: np.ndarray
    std: np.ndarray
    spin: np.ndarray
    """W with b in its last row, [inputs + 1, features]."""
    coefficients: np.ndarray
    """C, [1 + inputs + features, targets]"""
    scale: np.ndarray
    """What the targets are divided by."""

    @classmethod
    def fit(cls, inputs: np.ndarray, targets: np.ndarray, *, seed: int = 0) -> Foretold:
        """Solve for the coefficients by least squares with a small ridge."""
        mean, std = inputs.mean(axis=0), inputs.std(axis=0)
        std = np.where(std <= 1e-7 * np.abs(mean), 1.0, std)
        width = inputs.shape[1]
        size = int(np.clip(len(inputs) // ROWS_EACH - width - 1, 0, FEATURES))
        rng = np.random.default_rng(seed)
        spin = rng.standard_normal((width + 1, size)) / np.sqrt(max(1, width))
        scale = targets.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        blank = cls(
            mean=mean,
            std=std,
            spin=spin.astype(np.float32),
            coefficients=np.zeros((1 + width + size, targets.shape[1]), np.float32),
            scale=scale,
        )
        features = blank.features(inputs).astype(np.float64)
        ridge = RIDGE * len(inputs) * np.eye(features.shape[1])
        ridge[0, 0] = 0.0  # The constant is free.
        square = features.T @ features + ridge
        solved = np.linalg.solve(square, features.T @ (targets / scale))
        return cls(
            mean=mean,
            std=std,
            spin=blank.spin,
            coefficients=solved.astype(np.float32),
            scale=scale,
        )

    def features(self, inputs: np.ndarray) -> np.ndarray:
        """What the targets are a linear function of."""
        # A column that lies anywhere else must not make all others look foretold wrongly.
        x = np.clip((inputs - self.mean) / self.std, -FAR, FAR).astype(np.float32)
        ones = np.ones((len(x), 1), np.float32)
        return np.concatenate([ones, x, np.tanh(np.concatenate([x, ones], 1) @ self.spin)], axis=1)

    def surprise(self, inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """How far what came lies above what was foretold, in deviations of the targets."""
        return targets / self.scale - self.features(inputs) @ self.coefficients

    def problem(self, inputs: int, targets: int) -> str | None:
        """Why so many inputs and targets cannot be foretold; None where they can."""
        features = self.spin.shape[-1] if self.spin.ndim else 0
        wanted = {
            "mean": (inputs,),
            "std": (inputs,),
            "spin": (inputs + 1, features),
            "coefficients": (1 + inputs + features, targets),
            "scale": (targets,),
        }
        for name, shape in wanted.items():
            found = getattr(self, name)
            if found.shape != shape or found.dtype.kind != "f" or not np.isfinite(found).all():
                return f"`foretold.{name}` is not {list(shape)} finite numbers"
        if not ((self.std > 0).all() and (self.scale > 0).all()):
            return "what is foretold has a scale of 0"
        return None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
