import numpy as np
import pytest

from countmorl.data.aliases import ALIASES, KEYS, dims_of, renamed, task_named
from countmorl.errors import DataError


def test_no_name_means_two_things():
    assert sum(map(len, ALIASES.values())) == len(KEYS)


def test_arrays_get_our_names():
    found = {
        "state": np.zeros(2),
        "actions": np.zeros(2),
        "rewards": np.zeros(2),
        "is_last": np.ones(2),
    }
    assert set(renamed(found, "log", ())) == {"obs", "action", "reward", "ended"}


def test_what_is_missing_is_named_and_what_is_there_too():
    with pytest.raises(
        DataError, match=r"'log' has no `action` and no `reward`.*got obs, infos/\."
    ):
        renamed({"obs": np.zeros(2)}, "log", ("infos/",))


def test_sizes():
    assert dims_of({"observations": np.zeros((4, 3)), "action": np.zeros(4)}) == (3, 0)


@pytest.mark.parametrize(
    "stored", [np.array(b"My-v0"), np.array("My-v0"), np.frombuffer(b"My-v0", np.uint8)]
)
def test_a_task_is_known_by_the_id_that_is_stored(stored):
    assert task_named({"env_id": stored}).env_id == "My-v0"
    assert task_named({}) is None


@pytest.mark.parametrize("stored", [np.array(3), np.array(["a", "b"]), np.array("x" * 2000)])
def test_an_id_that_is_none(stored):
    with pytest.raises(DataError, match="`env_id` must hold"):
        task_named({"env_id": stored})
