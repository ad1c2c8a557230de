"""A model's error by step."""

import numpy as np
import pytest

from countmorl.errors import ConfigError
from countmorl.studies.model_steps import StepsConfig, steps_figure, summed

NAN = float("nan")


def test_medians_by_step_with_and_without_cuts():
    """Three rollouts of three steps: the second ends, the third is cut at its second step."""
    error = np.array([[1.0, 2.0, 9.0], [2.0, NAN, 8.0], [3.0, 0.0, 7.0]])
    live = np.array([[True, True, True], [True, True, True], [True, False, True]])
    near = np.array([[True, True, True], [True, True, False], [True, True, True]])
    found = summed("run", error, live, near)
    assert found.error.tolist() == [2.0, 5.0, 5.0]
    assert found.cut_error.tolist() == [2.0, 2.0, 3.0]
    assert found.going.tolist() == pytest.approx([1, 1, 2 / 3])
    assert found.uncut.tolist() == pytest.approx([1, 2 / 3, 1 / 3])


def test_where_nothing_is_left_there_is_no_number(tmp_path):
    nothing = np.zeros((2, 1), bool)
    found = summed(r"$\no$", np.ones((2, 1)), nothing, nothing)
    assert np.isnan(found.error).all()
    steps_figure([found], tmp_path / "steps.svg")
    assert (tmp_path / "steps.svg").stat().st_size > 0


def test_settings_that_make_no_sense():
    with pytest.raises(ConfigError, match="`horizon` must be at least 1"):
        StepsConfig(horizon=0)
