import numpy as np
import pytest

from countmorl.data.readers.structure import flattened, named_schema
from countmorl.errors import DataError
from countmorl.schema import schema_of


def test_dictionaries_become_columns_in_their_own_order():
    values = {"b": np.array([1, 2]), "a": {"x": [[3, 4], [5, 6]], "y": [[7], [8]]}}
    array, names = flattened("obs", values)
    assert names == ("b", "a.x.0", "a.x.1", "a.y")
    assert array.tolist() == [[1, 3, 4, 7], [2, 5, 6, 8]]


def test_arrays_stay_as_they_are():
    array, names = flattened("obs", [[1.0, 2.0]])
    assert (array.tolist(), names) == ([[1, 2]], None)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"a": [1, 2], "b": [1]}, "1 rows of 'b' but 2 of 'a'"),
        ({"camera": np.zeros((2, 8, 8))}, r"'camera' of shape \[2, 8, 8\].*Images"),
        ({"word": ["x", "y"]}, r"`obs\.word` holds values of type <U1"),
    ],
)
def test_what_cannot_be_columns_is_named(values, words):
    with pytest.raises(DataError, match=words):
        flattened("obs", values)


def schema(obs_names, action_names, action, wanted=None):
    obs = np.zeros((3, 2))
    return schema_of(
        named_schema(obs_names, action_names, obs, np.asarray(action), wanted)["schema"]
    )


def test_without_names_there_is_no_schema():
    assert named_schema(None, None, np.zeros((3, 2)), np.zeros((3, 1)), None) == {}


def test_names_of_both_sides():
    assert schema(("x", "y"), None, np.zeros((3, 2))).action_numbers == ("action.0", "action.1")
    assert schema(None, ("valve",), [0.1, 0.2, 0.3]).obs_names == ("obs.0", "obs.1")
    assert schema(("x", "y"), None, [0, 1, 1]).action_numbers == ("action=0", "action=1")
    assert schema(("x", "y"), None, [0, 1, 1], "continuous").action_numbers == ("action",)
