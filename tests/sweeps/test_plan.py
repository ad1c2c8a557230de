import pytest

from countmorl import BC, MOPO, CountMORL, DataOptions, RunOptions
from countmorl.algorithms.model_alone import CodesAlone, ModelAlone
from countmorl.counting.base import CodesConfig
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.sweeps.methods import Method
from countmorl.sweeps.plan import MOST, Sweep, data_names, seeds_of


def names(plan: Sweep) -> list[str]:
    return [row.name for row in plan.rows]


def test_every_method_on_every_dataset_with_every_seed():
    plan = Sweep.of(["bc", "td3-bc"], ["a.npz", "b.npz"], seeds=2)
    assert names(plan) == [
        "bc-a-seed0",
        "td3-bc-a-seed0",
        "bc-a-seed1",
        "td3-bc-a-seed1",
        "bc-b-seed0",
        "td3-bc-b-seed0",
        "bc-b-seed1",
        "td3-bc-b-seed1",
    ]
    assert [row.options.seed for row in plan.rows[:4]] == [0, 0, 1, 1]
    assert {row.options.label for row in plan.rows} == {"bc", "td3-bc"}
    assert plan.rows[0].data.endswith("/a.npz")


def test_a_model_is_fitted_once_for_each_dataset_setting_and_seed_and_codes_likewise():
    wide = MOPO(model=EnsembleConfig(width=400))
    methods = {"count": CountMORL(), "uc": CountMORL(estimate="UC"), "mopo": MOPO(), "wide": wide}
    plan = Sweep.of(methods, ["log.npz"])
    assert names(plan)[:5] == [
        "model-log-seed0",
        "codes-log-seed0",
        "count-log-seed0",
        "uc-log-seed0",
        "mopo-log-seed0",
    ]
    by_name = {row.name: row for row in plan.rows}
    assert by_name["count-log-seed0"].model == by_name["uc-log-seed0"].model == "codes-log-seed0"
    assert by_name["codes-log-seed0"].model == by_name["mopo-log-seed0"].model == "model-log-seed0"
    assert isinstance(by_name["model-log-seed0"].config, ModelAlone)
    assert isinstance(by_name["codes-log-seed0"].config, CodesAlone)
    other = by_name["wide-log-seed0"].model
    assert other.startswith("model-")
    assert by_name[other].config.model.width == 400
    assert [row.name for row in plan.trained] == [f"{label}-log-seed0" for label in methods]


def test_what_is_shared_stands_before_its_users_and_is_not_judged():
    plan = Sweep.of([CountMORL()], ["log.npz"], seeds=3, options=RunOptions(save_every=2))
    place = {name: number for number, name in enumerate(names(plan))}
    for row in plan.rows:
        assert row.model is None or place[row.model] < place[row.name]
    model = plan.rows[0]
    assert (model.options.eval_every, model.options.save_every, model.options.seed) == (0, 2, 0)


def test_counters_that_learn_nothing_share_no_codes():
    plan = Sweep.of([CountMORL(counter="simhash")], ["log.npz"])
    assert names(plan) == ["model-log-seed0", "count-morl-log-seed0"]


def test_codes_of_other_lengths_are_others():
    methods = {f"d{bits}": CountMORL(codes=CodesConfig(bits=bits)) for bits in (16, 32)}
    shared = {row.model for row in Sweep.of(methods, ["log.npz"]).trained}
    assert len(shared) == 2


def test_codes_are_shared_by_runs_that_verify_them_differently():
    methods = {f"v{at}": CountMORL(codes=CodesConfig(verified=at)) for at in (None, 0.99, "auto")}
    plan = Sweep.of(methods, ["log.npz"])
    assert [row.model for row in plan.trained] == ["codes-log-seed0"] * 3
    assert [row.config.codes.verified for row in plan.trained] == [None, 0.99, "auto"]


def test_rules_for_ends_that_are_given_are_not_learned_for_the_model():
    plan = Sweep.of([MOPO(termination="hopper"), BC()], ["log.npz"])
    assert plan.rows[0].config.termination == "hopper"


def test_a_plan_that_grows_keeps_its_names():
    small = Sweep.of([MOPO()], ["log.npz"])
    large = Sweep.of([MOPO(), CountMORL()], ["log.npz"], seeds=2)
    assert set(small.rows) < set(large.rows)
    both = small + large
    assert set(both.rows) == set(large.rows)
    assert len(both.rows) == len(large.rows)


def test_two_rows_of_one_name_are_refused():
    with pytest.raises(ConfigError, match=r"Two runs of the plan are called 'bc-log-seed0'"):
        Sweep.of([BC(), BC(epochs=3)], ["log.npz"])
    one = Sweep.of([MOPO()], ["log.npz"])
    two = Sweep.of({"b": MOPO()}, ["log.npz"], data_options=DataOptions(rows=5))
    with pytest.raises(ConfigError, match=r"called 'model-log-seed0' and are not the same"):
        one + two


def test_files_of_one_name_are_told_apart_by_their_folders():
    found = data_names(["x/log.npz", "y/log.npz", "z.hdf5", "hopper-medium-v2", "minari:a/b-v0"])
    assert list(found.values()) == ["x-log", "y-log", "z", "hopper-medium-v2", "minari-a/b-v0"]
    assert "bc-minari-a-b-v0-seed0" in names(Sweep.of(["bc"], ["minari:a/b-v0"]))


def test_sources_once():
    plan = Sweep.of([CountMORL(), BC()], ["a.npz", "b.npz"], seeds=3)
    assert [source.rpartition("/")[2] for source, _ in plan.sources] == ["a.npz", "b.npz"]


def test_seeds_are_numbers_or_how_many():
    assert seeds_of(3) == [0, 1, 2]
    assert seeds_of((7, 9)) == [7, 9]
    for none in (0, ()):
        with pytest.raises(ConfigError, match=r"has no seeds"):
            seeds_of(none)
    with pytest.raises(ConfigError, match=r"at most 10,000, got 1,000,000,000"):
        seeds_of(10**9)
    with pytest.raises(ConfigError, match=r"`seed` must be at least 0, got -1"):
        Sweep.of(["bc"], ["log.npz"], seeds=[-1])


def test_a_million_runs_are_refused_before_they_are_listed():
    grid = {"epochs": tuple(range(1, 1001)), "batch": tuple(range(1, 1001))}
    with pytest.raises(ConfigError, match=rf"1,000,000 runs; at most {MOST:,}"):
        Sweep.of([Method(algorithm="bc", grid=grid)], ["log.npz"])


@pytest.mark.parametrize(
    ("methods", "data", "what"), [([], ["a"], "methods"), (["bc"], [], "data")]
)
def test_a_plan_without_rows_is_refused(methods, data, what):
    with pytest.raises(ConfigError, match=rf"The plan has no {what}"):
        Sweep.of(methods, data)
    with pytest.raises(ConfigError, match=r"The plan has no runs"):
        Sweep.of_rows("x", [])


def test_a_wrong_setting_is_named_with_its_label():
    with pytest.raises(ConfigError, match=r"mine: BC has no setting 'beta'"):
        Sweep.of([Method(algorithm="bc", label="mine", settings={"beta": 1})], ["log.npz"])


def test_a_note_names_methods_without_published_settings():
    methods = [Method(algorithm=name, preset="paper") for name in ("bc", "repb-sde", "morel")]
    plan = Sweep.of(methods, ["hopper-medium-v2"])
    assert plan.notes == (
        "No settings are published for repb-sde, morel: their defaults are taken.",
    )
    assert (plan + plan).notes == plan.notes
