"""`countmorl doctor`: is this installation sound?"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax
import numpy as np

from countmorl.algorithms.bc import BC
from countmorl.api import train
from countmorl.data.names import cache_folder
from countmorl.extras import EXTRAS, installed
from countmorl.runtime.policy import Policy

PACKAGES = ("countmorl", "jax", "jaxlib", "equinox", "optax", "numpy", "scipy", "h5py", "tyro")


def examine() -> dict[str, Any]:
    """Return versions, devices, extras, folders and the outcome of a small training."""
    trial, ok = _self_test()
    return {
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in PACKAGES},
        "devices": {str(device): device.device_kind for device in jax.devices()},
        "extras": {
            package: "installed"
            if installed(package)
            else f'missing: pip install "countmorl[{extra}]"'
            for package, extra in EXTRAS.items()
        },
        "folders": {
            "D4RL files": str(cache_folder()),
            "Minari files": os.environ.get("MINARI_DATASETS_PATH", "~/.minari/datasets"),
        },
        "self-test": trial,
        "ok": ok,
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _self_test() -> tuple[dict[str, str], bool]:
    """Clone a known linear behaviour for a moment; the policy must come close to it."""
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((2000, 3)).astype(np.float32)
    action = np.tanh(obs @ np.array([[0.5, -0.2], [0.1, 0.3], [-0.4, 0.2]], np.float32))
    data = {"obs": obs, "action": action, "reward": np.zeros(2000, np.float32)}
    start = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            train(BC(epochs=2, updates=300, batch=64), data, out=out, quiet=True)
            error = float(np.abs(Policy.load(out).act(obs) - action).mean())
    except Exception as problem:  # Whatever it is, the doctor reports it.
        return {"training": f"failed: {type(problem).__name__}: {problem}"}, False
    seconds = f"{time.perf_counter() - start:.1f} s"
    verdict = "works" if error < 0.05 else "does not learn"
    return {"training": f"{verdict} (error {error:.3f}, {seconds})"}, error < 0.05
