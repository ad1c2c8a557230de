import numpy as np
import pytest

from countmorl.data.readers.mapping import read_mapping
from countmorl.data.sources import load
from countmorl.errors import DataError


def test_our_names_and_d4rls_mean_the_same(log):
    theirs = log()
    names = {
        "observations": "obs",
        "actions": "action",
        "rewards": "reward",
        "next_observations": "next_obs",
        "terminals": "terminated",
        "timeouts": "truncated",
    }
    ours = {names[key]: values for key, values in theirs.items()}
    assert load(ours).hash == load(theirs).hash


def test_an_unknown_array_is_an_error_that_names_it(log):
    with pytest.raises(DataError, match=r"unknown arrays: rewrads.*Known: obs, action, reward"):
        read_mapping(log() | {"rewrads": np.zeros(60)})


def test_two_names_for_one_thing_are_an_error(log):
    arrays = log()
    with pytest.raises(DataError, match="both 'obs' and 'observations'"):
        read_mapping(arrays | {"obs": arrays["observations"]})


def test_a_typing_slip_is_guessed(log):
    with pytest.raises(DataError, match="Did you mean 'terminated'"):
        read_mapping(log() | {"terminatd": np.zeros(60)})


def test_observations_and_actions_by_name(log):
    arrays = log()
    named = arrays | {
        "observations": {"x": arrays["observations"][:, 0], "arm": arrays["observations"][:, 1:]},
        "next_observations": {
            "x": arrays["next_observations"][:, 0],
            "arm": arrays["next_observations"][:, 1:],
        },
    }
    dataset = load(named)
    assert dataset.obs_names == ("x", "arm.0", "arm.1")
    assert dataset.action_names == ("action.0", "action.1")
    np.testing.assert_array_equal(dataset.next_obs, arrays["next_observations"])
    del named["next_observations"]["x"]
    with pytest.raises(DataError, match="other columns"):
        load(named)
