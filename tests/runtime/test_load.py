import numpy as np
import pytest

from countmorl import load_policy
from countmorl.errors import RunError
from countmorl.files import write_arrays
from countmorl.runtime.load import KINDS
from countmorl.runtime.policy import Policy
from countmorl.runtime.tabular import TabularPolicy


def test_a_network_from_its_run_or_its_file(trained):
    for place in (trained / "run", str(trained / "run" / "policy.safetensors")):
        policy = load_policy(place)
        assert isinstance(policy, Policy)
        assert policy.info["algorithm"] == "bc"


def test_a_table(tmp_path):
    table = TabularPolicy(probabilities=np.eye(2), counts=np.eye(2), info={})
    table.save(tmp_path / "policy.safetensors")
    again = load_policy(tmp_path)
    assert isinstance(again, TabularPolicy)
    assert again.act(1) == 1


def test_every_kind_has_a_name_of_its_own():
    assert KINDS == {"policy": Policy, "tabular-policy": TabularPolicy}


@pytest.mark.parametrize(("kind", "said"), [("checkpoint", "checkpoint"), (None, "unknown")])
def test_another_file_is_said(tmp_path, kind, said):
    write_arrays(tmp_path / "x", {"x": np.zeros(1)}, {"kind": kind})
    with pytest.raises(RunError, match=f"is not a policy; it is a {said} file"):
        load_policy(tmp_path / "x")
