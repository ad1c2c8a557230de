"""A run that counts, shared by the tests of this room."""

from pathlib import Path

import numpy as np
import pytest

from countmorl import train
from monitored import walks
from small_runs import QUIET, small


@pytest.fixture(scope="session")
def counting_run(tmp_path_factory) -> Path:
    """A tiny run of count-morl beside its log. Read it, never write to it."""
    folder = tmp_path_factory.mktemp("counting")
    np.savez(folder / "log.npz", **walks())
    train(small("count-morl"), folder / "log.npz", out=folder / "run", **QUIET)
    return folder / "run"
