import pytest

from countmorl.automatic.judging import remembered
from countmorl.errors import RunError
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.verdict import Judgement, Way

SURE = Estimate(value=1.0, interval=(0.5, 1.5), unit="u", made_by="m", facts={"gain": 0.25})
JUDGEMENT = Judgement(
    name="td3-bc epoch 2",
    verdict="worse",
    sentence="worse than the log.",
    behaviour=Estimate(value=2.0, interval=None, unit="u", made_by="b"),
    opinions={"fitted Q": SURE, "model": Refusal(made_by="m", why="no.", facts={"cut": 1.0})},
    way=Way(unseen=0.1, thin=0.2),
    gain=(-2.0, -1.0),
    notes=("a note",),
)


@pytest.mark.parametrize("gain", [(-2.0, -1.0), None])
def test_a_judgement_comes_back_as_it_was(gain):
    values = JUDGEMENT.as_dict() | {"gain": None if gain is None else list(gain)}
    found = remembered(JUDGEMENT.name, values)
    assert found.as_dict() == values
    assert found.opinions == JUDGEMENT.opinions
    assert found.gain == gain


@pytest.mark.parametrize(
    "broken",
    [
        {"opinions": 3},
        {"gain": [1.0]},
        {"gain": ["a", "b"]},
        {"behaviour": {}},
        {"behaviour": SURE.as_dict() | {"value": "much"}},
        {"behaviour": SURE.as_dict() | {"facts": {"gain": None}}},
        {"verdict": "the best"},
        {"unseen": None},
        {"name": "another policy"},
    ],
)
def test_a_damaged_one_is_said(broken):
    with pytest.raises(RunError, match="Remove `judgements` from it"):
        remembered(JUDGEMENT.name, JUDGEMENT.as_dict() | broken)
