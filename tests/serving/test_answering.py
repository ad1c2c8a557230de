from dataclasses import replace

import numpy as np
import pytest

from asked import ask
from countmorl.errors import DataError, RunError
from countmorl.runtime.bundle import Bundle
from countmorl.runtime.contract import CONTRACT_FORMAT, Contract, Origin, Range
from countmorl.runtime.guard import Guard, GuardSettings
from countmorl.runtime.levels import Counted
from countmorl.runtime.policy import Policy
from countmorl.schema import Column, Schema
from countmorl.serving.answering import NOBODY, BundleAnswers
from countmorl.serving.app import make_app
from countmorl.spaces import ActionSpace

NAMES = Schema(
    obs=(Column(name="glucose"), Column(name="meal")), action=(Column(name="dose"),), reward="r"
)
CHOICES = Schema(
    obs=NAMES.obs,
    action=(Column(name="offer", kind="category", values=("mail", "call")),),
    reward="r",
)


class Counting:
    """Pairs with a first number below 0 were never logged, all others nine times."""

    def counts(self, obs, action):
        count = np.where(np.atleast_2d(obs)[:, 0] < 0, 0.0, 9.0)
        level = np.where(count == 0, "unseen", "covered")
        return Counted(members=count[None].astype(int), count=count, level=level)


def policy(schema: Schema | None, discrete: bool) -> Policy:
    """x0 - x1, squashed; or the first of two choices where it is positive."""
    weight = np.array([[1.0, -1.0], [-1.0, 1.0]] if discrete else [[1.0], [-1.0]], np.float32)
    ones = np.ones(1, np.float32)
    return Policy(
        weights=(weight,),
        biases=(np.zeros(weight.shape[1], np.float32),),
        head="categorical" if discrete else "tanh",
        obs_mean=np.zeros(2, np.float32),
        obs_std=np.ones(2, np.float32),
        space=ActionSpace.numbered(2) if discrete else ActionSpace(low=-ones, high=ones),
        schema=schema,
    )


def answers(
    schema: Schema | None = None, *, discrete: bool = False, counted: bool = True, back: str = ""
) -> BundleAnswers:
    """A bundle of that policy; `back` is the fall-back of its guard, where it has one."""
    names = schema.obs_names if schema else ("obs[0]", "obs[1]")
    settings = GuardSettings(threshold=1.0, fall_back=back) if back else None  # type: ignore
    acting, counts = policy(schema, discrete), Counting() if counted else None
    sizes = (("mail", "call") if discrete else ("dose",)) if schema else ("0", "1")
    origin = Origin(countmorl="0", algorithm="bc", dataset="d", dataset_hash="h", task=None)
    contract = Contract(
        format=CONTRACT_FORMAT,
        origin=origin,
        observation=tuple(Range(name=n, unit="", low=-9.0, high=9.0) for n in names),
        history=1,
        discrete=discrete,
        action=tuple(Range(name=n, unit="", low=-1.0, high=1.0) for n in sizes[: 1 + discrete]),
        schema=schema,
        counts="codes" if counted else None,
        thin=2.0 if counted else None,
        guard=settings,
        reach=1.0,
        far="refuse",
        unreadable="refuse",
        judged=None,
    )
    guard = Guard(policy=acting, counts=counts, settings=settings) if settings else None  # type: ignore
    return BundleAnswers(Bundle(contract=contract, policy=acting, counts=counts, guard=guard))


def test_numbers_alone_and_together():
    (one,) = answers().numbers([[1.0, 1.0]])
    assert (one.action, one.count, one.level, one.fell_back, one.why) == (
        [0.0],
        9.0,
        "covered",
        False,
        None,
    )
    several = answers().numbers([[1.0, 1.0], [-1.0, -1.0]])
    assert [each.level for each in several] == ["covered", "unseen"]
    (bare,) = answers(counted=False).numbers([[1.0, 1.0]])
    assert (bare.count, bare.level) == (None, None)
    assert [each.count for each in answers(counted=False).numbers([[1.0, 1.0]] * 2)] == [None] * 2


def test_rows_by_name():
    found = answers(NAMES).rows([{"glucose": "2", "meal": 2}, {"glucose": -1, "meal": -1}])
    assert [each.action for each in found] == [{"dose": 0.0}, {"dose": 0.0}]
    assert [each.level for each in found] == ["covered", "unseen"]


def test_choices_are_numbers_or_names():
    assert [a.action for a in answers(discrete=True).numbers([[1, 0], [0, 1]])] == [0, 1]
    named = answers(CHOICES, discrete=True)
    assert [a.action for a in named.numbers([[1, 0], [0, 1]])] == ["mail", "call"]
    assert named.numbers([[1, 0]])[0].action == "mail"


@pytest.mark.parametrize("discrete", [False, True])
def test_a_guard_leaves_it_to_a_person(discrete):
    guarded = answers(discrete=discrete, back="abstain")
    for obs in ([[-1.0, 0.0]], [[-1.0, 0.0], [1.0, 1.0]]):
        first = guarded.numbers(obs)[0]
        assert (first.action, first.fell_back, first.why) == (None, True, NOBODY)
    assert guarded.numbers([[-1.0, 0.0], [1.0, 1.0]])[1].fell_back is False
    (row,) = answers(NAMES, back="abstain").rows([{"glucose": -1, "meal": 0}])
    assert (row.action, row.why) == (None, NOBODY)


def test_over_http_and_its_contract():
    app = make_app(answers(NAMES))
    _, _, said = ask(app, "POST", "/act", {"row": {"glucose": 1, "meal": 1}})
    assert said == {"action": {"dose": 0.0}, "count": 9.0, "level": "covered", "fell_back": False}
    _, _, contract = ask(app, "GET", "/contract")
    assert [each["name"] for each in contract["observation"]] == ["glucose", "meal"]


class TestBadInput:
    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ({"obs": [1, 2, 3]}, "observations of 2 numbers, got 3"),
            ({"obs": [[1, 2], [1]]}, "observations of 2 numbers, got 1"),
            ({"obs": [1e300, 0]}, "must be finite"),
            ({"obs": [1000, 0]}, "glucose"),
            ({"obs": [[0, 0], [1000, 0]]}, "glucose"),
            ({"row": {"glucose": 1}}, "The row has no 'meal'"),
            ({"row": {"glucose": 1, "meal": None}}, "'meal' is missing"),
            ({"row": {"glucose": 1, "meal": "much"}}, "'meal' must be a number"),
            ({"row": {"glucose": [1], "meal": 1}}, "'glucose' must be a number"),
            ({"row": {"glucose": 1000, "meal": 1}}, "glucose"),
        ],
    )
    def test_what_the_contract_refuses(self, body, said):
        status, _, answer = ask(make_app(answers(NAMES)), "POST", "/act", body)
        assert status == 422
        assert said in answer["error"]

    def test_rows_where_the_log_had_no_names(self):
        with pytest.raises(DataError, match="had no names of columns"):
            answers().rows([{"a": 1}])

    def test_a_row_alone_that_says_too_little(self):
        columns = (replace(NAMES.obs[0], kind="elapsed"), NAMES.obs[1])
        schema = replace(NAMES, obs=columns)
        with pytest.raises(DataError, match="cannot act on a row alone: 'glucose' is the time"):
            answers(schema).rows([{"glucose": 1, "meal": 1}])

    def test_a_folder_that_is_no_bundle(self, tmp_path):
        with pytest.raises(RunError, match="is not a bundle"):
            BundleAnswers.load(tmp_path)
