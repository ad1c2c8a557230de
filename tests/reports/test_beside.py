from dataclasses import replace

from countmorl.reports.beside import OLD_DATA, TUNED, beside
from countmorl.reports.groups import group
from countmorl.reports.published import Number
from countmorl.reports.scores import score_tables
from countmorl.runs.manifest import DataOrigin
from countmorl.runs.options import DataOptions
from made_runs import make_facts

HOPPER = "hopper-medium-replay-v2"


def facts(data=HOPPER, seed=0, algorithm="count-morl", rows=None, **config):
    origin = DataOrigin(name=data, hash="", options=DataOptions(rows=rows))
    return make_facts(90.0, algorithm=algorithm, seed=seed, config=config, own=(), data=origin)


def put(*runs, last=5, protocol="last"):
    study = group(runs)
    tables = [table for table in score_tables(study, last) if table.protocol == protocol]
    return beside(study, tables[0] if tables else None, last)


def test_the_same_method_estimate_and_length():
    (pair,) = put(facts(estimate="UC", codes={"bits": 50})).pairs
    assert pair.main == pair.estimate == pair.dimension == Number(mean=101.7, spread=0.8)
    (pair,) = put(facts(estimate="LC", codes={"bits": 50})).pairs
    assert (pair.main, pair.estimate) == (
        Number(mean=101.7, spread=0.8),
        Number(mean=98.9, spread=3.9),
    )
    assert pair.dimension is None  # That table is of UC here.
    (pair,) = put(facts(estimate="UC", codes={"bits": "auto"})).pairs
    assert pair.dimension is None


def test_settings_that_differ_within_a_cell_have_no_counterpart():
    runs = [facts(estimate="UC"), facts(estimate="LC", seed=1)]
    labelled = [make_same_label(run) for run in runs]
    (pair,) = put(*labelled).pairs
    assert pair.estimate is None


def make_same_label(run):
    options = replace(run.manifest.options, label="ours")
    return replace(run, manifest=replace(run.manifest, options=options))


def test_other_methods_have_table_1_alone():
    (pair,) = put(facts(algorithm="mopo", estimate="UC", codes={"bits": 50})).pairs
    assert (pair.main, pair.estimate, pair.dimension) == (
        Number(mean=64.2, spread=28.9),
        None,
        None,
    )
    (pair,) = put(facts("hopper-medium-v0", algorithm="combo")).pairs
    assert (pair.main, pair.old_data) == (Number(mean=97.2), False)
    assert put(facts("hopper-medium-v0", algorithm="bc")).pairs == ()
    assert put(facts(algorithm="mine:Own")).pairs == ()


def test_footnotes_stand_where_their_columns_do():
    assert TUNED in put(facts(estimate="UC")).notes
    assert TUNED not in put(facts(algorithm="mopo")).notes
    old = put(facts(algorithm="bc"))
    assert OLD_DATA in old.notes
    assert old.pairs[0].old_data


def test_fewer_seeds_than_the_papers_are_told():
    assert put(facts(algorithm="mopo")).notes == (
        "The paper has five seeds per number; ours here have as few as 1 seed.",
    )
    assert put(*(facts(algorithm="mopo", seed=seed) for seed in range(5))).notes == ()
    assert "as few as 2 seeds" in put(*(facts(seed=seed) for seed in range(2))).notes[-1]


def test_other_data_are_not_compared():
    told = put(facts("hopper_medium_replay-recipe"), facts("hopper_medium-v2", rows=1000))
    assert told.pairs == ()
    (note,) = told.notes
    assert note.startswith(
        "The paper's numbers are not put beside ours on hopper_medium-v2, "
        "hopper_medium_replay-recipe: these are not D4RL's own data"
    )


def test_other_protocols_are_not_compared():
    for told in (put(facts(), last=3), put(facts(), protocol="best"), put(make_facts())):
        assert told.pairs == ()
        assert "the mean of the last five evaluations, and there are none such" in told.notes[0]
