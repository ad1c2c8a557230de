import numpy as np
import pytest

from countmorl.errors import RunError
from countmorl.files import write_arrays
from countmorl.runtime.files import POLICY_FILE, read_policy_file


def test_a_file_or_the_folder_it_lies_in(tmp_path):
    write_arrays(tmp_path / POLICY_FILE, {"x": np.arange(3)}, {"kind": "any"})
    for place in (tmp_path, tmp_path / POLICY_FILE, str(tmp_path)):
        path, arrays, meta = read_policy_file(place)
        assert path == tmp_path / POLICY_FILE
        assert (arrays["x"].tolist(), meta) == ([0, 1, 2], {"kind": "any"})


def test_a_folder_without_one(tmp_path):
    with pytest.raises(RunError, match=r"holds no policy.safetensors. Is it a run folder"):
        read_policy_file(tmp_path)


def test_a_missing_file(tmp_path):
    with pytest.raises(RunError, match="There is no file"):
        read_policy_file(tmp_path / "nowhere.safetensors")
