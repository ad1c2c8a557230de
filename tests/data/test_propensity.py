"""A log's own chances of its actions, from every source to every use of a dataset."""

import h5py
import numpy as np
import pytest

from countmorl.data.aliases import ALIASES
from countmorl.data.check import check
from countmorl.data.holdout import draw_holdout, split
from countmorl.data.joining import concatenate
from countmorl.data.propensity import impossible
from countmorl.data.readers import WRITERS
from countmorl.data.readers.hdf5 import read_hdf5
from countmorl.data.sources import load
from countmorl.errors import DataError
from countmorl.files import digest
from countmorl.runs.options import DataOptions

LIKELY = np.tile([0.25, 0.5, 0.75, 1.0], 15).astype(np.float32)


@pytest.fixture
def choices(log):
    """60 rows in episodes of four: two actions, in turn, and how likely each was."""

    def make(**changes):
        arrays = log() | {
            "actions": np.tile([0, 1], 30),
            "action_count": np.array(2),
            "timeouts": np.arange(60) % 4 == 3,
            "terminals": np.zeros(60, bool),
            "propensity": LIKELY,
        }
        return {name: values for name, values in (arrays | changes).items() if values is not None}

    return make


@pytest.mark.parametrize("name", ALIASES["propensity"])
def test_the_column_by_any_of_its_names(choices, name):
    dataset = load(choices(propensity=None) | {name: LIKELY[:, None].astype(np.float64)})
    assert dataset.propensity.dtype == np.float32
    assert dataset.propensity.tolist() == LIKELY.tolist()


@pytest.mark.parametrize(
    ("rows", "value", "words"),
    [
        ([7], 0.0, "is 0 in row 7. It says how likely the logged action was when it was taken"),
        ([7, 9], -0.5, "is -0.5 in row 7 (and in 1 more rows no chance, either)"),
        ([59], 1.01, "is 1.01 in row 59."),
        ([3], np.nan, "is nan in row 3."),
        ([3], np.inf, "is inf in row 3."),
        ([3], 1e-60, "is 0 in row 3."),
    ],
)
def test_what_is_no_chance_is_refused_by_its_first_row(choices, rows, value, words):
    likely = LIKELY.astype(np.float64)
    likely[rows] = value
    with pytest.raises(DataError, match="`propensity` of 'arrays'") as caught:
        load(choices(propensity=likely))
    assert words in str(caught.value)
    (finding,) = [each for each in check(choices(propensity=likely)) if each.kind == "propensity"]
    assert (finding.level, finding.rows) == ("error", tuple(rows))
    assert impossible(likely.astype(np.float32)).tolist() == rows


@pytest.mark.parametrize(
    ("likely", "words"),
    [
        (LIKELY[:59], "`propensity` has 59 rows but `obs` has 60"),
        (np.full((60, 2), 0.5), r"`propensity` has shape \[60, 2\], wanted one value per row"),
        (np.array(0.5), r"`propensity` has shape \[\], wanted one value per row"),
        (np.full(60, "half"), "`propensity` holds values of type <U4, wanted real numbers"),
    ],
)
def test_other_shapes_and_types_are_refused(choices, likely, words):
    with pytest.raises(DataError, match=words):
        load(choices(propensity=likely))


def test_single_precision_may_round_a_one_up(choices):
    above = np.nextafter(np.float32(1), np.float32(2))
    assert load(choices(propensity=np.full(60, above))).propensity.max() == 1


def test_of_vectors_it_is_not_used_and_that_is_said(log):
    dataset = load(log() | {"propensity": np.full(60, 3.5)})
    assert dataset.propensity is None
    assert [note for note in dataset.notes if "`propensity` is not used: actions are vec" in note]
    assert dataset.hash == load(log()).hash


def test_a_log_without_it_has_the_hash_that_it_always_had(choices):
    dataset = load(choices(propensity=None))
    names = ["obs", "action", "reward", "next_obs", "terminated", "truncated", "next_known"]
    arrays = {name: getattr(dataset, name) for name in (*names, "episode_ends")}
    arrays |= {"action_low": dataset.space.low, "action_high": dataset.space.high}
    assert dataset.hash == digest(arrays, "discrete")
    assert load(choices()).hash == digest(arrays | {"propensity": LIKELY}, "discrete")
    assert dataset.card()["propensity"] is None


def test_files_keep_it(choices, tmp_path):
    dataset = load(choices())
    for ending, write in WRITERS.items():
        path = tmp_path / f"log{ending}"
        write(dataset, path)
        again = load(path)
        assert again.hash == dataset.hash
        assert again.propensity.tolist() == LIKELY.tolist()
        write(load(choices(propensity=None)), tmp_path / f"other{ending}")
        assert load(tmp_path / f"other{ending}").propensity is None


def test_rows_of_the_old_loader_have_theirs(choices, tmp_path):
    """It drops the rows at time limits, every fourth one."""
    with h5py.File(tmp_path / "log.hdf5", "w") as file:
        for name, values in choices(propensity=None).items():
            file[name] = values
        file["pscore"] = LIKELY
    found = read_hdf5(tmp_path / "log.hdf5", options=DataOptions(mode="d4rl-exact"))
    assert found.propensity.tolist() == LIKELY.reshape(-1, 4)[:, :3].reshape(-1).tolist()


def test_episodes_have_their_own(choices):
    log = choices()
    names = {"observations": "obs", "actions": "action", "rewards": "reward"}
    episodes = [
        {ours: log[theirs][at : at + 4] for theirs, ours in names.items()}
        | {"pscore": LIKELY[at : at + 4]}
        for at in range(0, 60, 4)
    ]
    more = DataOptions(actions="discrete")
    assert load(episodes, options=more).propensity.tolist() == LIKELY.tolist()
    steps = [{name: values[i] for name, values in episodes[0].items()} for i in range(4)]
    assert load([steps], options=more).propensity.tolist() == LIKELY[:4].tolist()
    del episodes[3]["pscore"]
    with pytest.raises(DataError, match="Episode 3 has no `propensity`, which episode 0 has"):
        load(episodes, options=more)


def test_parts_of_a_log_have_theirs(choices):
    likely = np.linspace(0.1, 1, 60).astype(np.float32)
    dataset = load(choices(propensity=likely))
    assert dataset.first(7).propensity.tolist() == likely[:7].tolist()
    chosen = np.arange(15) % 2 == 1
    rows = np.repeat(chosen, 4)
    assert dataset.of_episodes(chosen).propensity.tolist() == likely[rows].tolist()
    taught, judged = split(dataset, draw_holdout(dataset, 0.2, 0))
    assert sorted([*taught.propensity, *judged.propensity]) == likely.tolist()
    assert len(judged.propensity) == len(judged) == 12


def test_joined_logs_have_it_where_all_have(choices):
    some, other = load(choices()), load(choices(propensity=None))
    assert concatenate({"a": some, "b": some}, "ab").propensity.tolist() == [*LIKELY, *LIKELY]
    for parts in ({"a": some, "b": other}, {"b": other, "a": some}):
        assert concatenate(parts, "ab").propensity is None


def test_the_card_tells_of_it(choices):
    assert load(choices()).card()["propensity"] == {"low": 0.25, "median": 0.625, "high": 1.0}
