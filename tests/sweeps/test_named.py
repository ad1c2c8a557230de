import pytest

from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.bc import BC
from countmorl.errors import ConfigError
from countmorl.runs.options import DataOptions, RunOptions
from countmorl.sweeps.named import BITS, NAMED, choose_methods, named_plan


class Mine(BC):
    """Mine: a clone by another name."""


@pytest.mark.parametrize(
    ("name", "methods"),
    [("table1", 9), ("table1-v0", 9), ("estimates", 3), ("dimensions", 5), ("curves", 4)],
)
def test_plans_are_of_the_papers_sizes(name, methods):
    plan = named_plan(name, seeds=2)
    assert len(plan.trained) == methods * 12 * 2
    version = "v0" if name.endswith("v0") else "v2"
    assert all(row.data.endswith(version) for row in plan.rows)
    assert plan.name == name


def test_table1_has_all_methods_on_the_twelve_tasks_with_the_papers_settings():
    plan = named_plan("table1", preset="paper", seeds=1)
    assert {row.algorithm for row in plan.trained} == set(ALGORITHMS) - {"mobile"}
    by_name = {row.name: row.config for row in plan.rows}
    count = by_name["count-morl-hopper-medium-expert-v2-seed0"]
    assert (count.horizon, count.beta, count.estimate, count.epochs) == (20, 3.0, "UC", 1000)
    assert "repb-sde, morel" in plan.notes[0] or "morel, repb-sde" in plan.notes[0]


def test_estimates_share_one_model_and_one_set_of_codes():
    plan = named_plan("estimates", tasks=["hopper-medium"], seeds=1)
    assert [row.algorithm for row in plan.rows] == ["model", "codes", *["count-morl"] * 3]
    assert [row.config.estimate for row in plan.trained] == ["LC", "AVG", "UC"]
    assert [row.label for row in plan.trained] == [
        f"count-morl {each}" for each in ("LC", "AVG", "UC")
    ]


def test_dimensions_share_the_model_and_fit_codes_of_each_length():
    plan = named_plan("dimensions", tasks=["hopper-medium"], seeds=1)
    assert [row.config.codes.bits for row in plan.trained] == list(BITS)
    assert [row.algorithm for row in plan.rows].count("model") == 1
    assert [row.algorithm for row in plan.rows].count("codes") == 5


def test_plans_are_restricted_as_is_said(tmp_path):
    plan = named_plan(
        "table1",
        tasks=["walker2d-random"],
        algorithms=["bc", "mopo"],
        seeds=3,
        settings={"epochs": 7},
        options=RunOptions(eval_every=2),
        data_options=DataOptions(rows=99),
    )
    assert {row.algorithm for row in plan.trained} == {"bc", "mopo"}
    assert len(plan.trained) == 6
    assert {row.config.epochs for row in plan.trained} == {7}
    assert {row.options.eval_every for row in plan.trained} == {2}
    assert {row.data_options.rows for row in plan.rows} == {99}


def test_ones_own_method_is_one_more_column():
    own = f"{Mine.__module__}:Mine"
    known = NAMED["table1"].methods()
    chosen = choose_methods(known, ["count-morl", own])
    assert [each.algorithm for each in chosen] == ["count-morl", own]


def test_methods_are_chosen_by_name_or_label():
    known = NAMED["curves"].methods()
    assert [m.label for m in choose_methods(known, ["count-morl UC"])] == ["count-morl UC"]
    assert len(choose_methods(known, ["count-morl"])) == 3
    assert choose_methods(known, ["bc"])[0].algorithm == "bc"  # Not in the paper's figure.
    with pytest.raises(ConfigError, match=r"No method named 'mopoo'. Did you mean 'mopo'"):
        choose_methods(known, ["mopoo"])


def test_an_unknown_plan():
    with pytest.raises(ConfigError, match=r"No plan named 'table2'. Did you mean 'table1'"):
        named_plan("table2")
