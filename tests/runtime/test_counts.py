"""What counts in production answers as the training's own counters do."""

from dataclasses import replace

import numpy as np
import pytest

import countmorl
from countmorl import train
from countmorl.counting.base import CodesConfig
from countmorl.errors import DataError, RunError
from countmorl.runtime.counts import Counts
from small_runs import MODEL, QUIET, numbered_log, small, vector_log

CODES = CodesConfig(bits=6, fit_epochs=1, fit_updates=9, follow="pairs", verified=0.99)
KINDS = {
    "codes": {"codes": CODES, "model": replace(MODEL, norm=True)},
    "simhash": {"counter": "simhash", "estimate": "LC"},
    "exact": {"counter": "exact", "estimate": "UC"},
}


@pytest.fixture(
    scope="module",
    params=[pytest.param("codes", marks=pytest.mark.slow), "simhash", "exact"],
)
def run(request, tmp_path_factory):
    log = numbered_log() if request.param == "exact" else vector_log()
    out = tmp_path_factory.mktemp("runs") / request.param
    train(small("count-morl", epochs=1, **KINDS[request.param]), log, out=out, **QUIET)
    return out, log


@pytest.fixture(scope="module")
def coded(tmp_path_factory):
    out = tmp_path_factory.mktemp("coded") / "run"
    return train(small("count-morl", epochs=1), vector_log(), out=out, **QUIET).path


def test_exactly_the_counts_of_the_training(run):
    path, log = run
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((3000, log["obs"].shape[1])).astype(np.float32)
    obs, action = np.concatenate([log["obs"], noise]), log["action"]
    action = np.concatenate([action, action[rng.integers(0, len(action), 3000)]])
    wanted = countmorl.counts(path)(obs, action)
    counts = Counts.of_run(path)
    got = counts.counts(obs, action)
    np.testing.assert_array_equal(got.members, wanted.members)
    np.testing.assert_allclose(
        got.count, wanted.estimates[counts.use.estimate], rtol=1e-5, atol=1e-4
    )
    assert set(got.level) <= {"covered", "thin", "unseen"}
    assert got.members[:, :300].any(axis=0).mean() > 0.5
    assert (got.level != "covered").any()


def test_what_is_thin_comes_from_held_out_rows(run):
    path, _ = run
    assert Counts.of_run(path).thin == countmorl.Run.open(path).calibration().thin >= 1


def test_saved_and_loaded(run, tmp_path):
    path, log = run
    counts = Counts.of_run(path)
    counts.save(tmp_path / "counts.safetensors")
    again = Counts.load(tmp_path / "counts.safetensors")
    pairs = log["obs"][:20], log["action"][:20]
    np.testing.assert_array_equal(again.counts(*pairs).members, counts.counts(*pairs).members)
    assert (again.thin, again.use) == (counts.thin, counts.use)


def test_more_logs_add_up(run):
    path, log = run
    counts = Counts.of_run(path)
    pairs = log["obs"][:50], log["action"][:50]
    if counts.use.counter == "exact":  # Held-out rows have no place there.
        placed = counts.verified(*pairs)[0]
        pairs = pairs[0][placed], pairs[1][placed]
    before, known = counts.counts(*pairs).members, counts.verified(*pairs)
    after = counts.add(*pairs).counts(*pairs).members
    assert (after > before)[known].all()
    assert (after[~known] == 0).all()
    twice = counts.merge(counts).counts(*pairs).members
    np.testing.assert_array_equal(twice, 2 * before)


def test_a_single_pair_and_many(coded):
    counts, log = Counts.of_run(coded), vector_log()
    one = counts.counts(log["obs"][0], log["action"][0])
    assert (one.members.shape, one.count.shape, one.level.shape) == ((2, 1), (1,), (1,))
    obs, action = np.tile(log["obs"], (20, 1)), np.tile(log["action"], (20, 1))
    many = counts.counts(obs, action).members  # Several blocks.
    np.testing.assert_array_equal(many[:, 0], one.members[:, 0])
    np.testing.assert_array_equal(many[:, :300], many[:, -300:])
    none = counts.counts(np.empty((0, 2)), np.empty((0, 1)))
    assert none.count.shape == (0,)


def test_foreign_codes_do_not_add_up(coded):
    counts = Counts.of_run(coded)
    with pytest.raises(DataError, match="two kinds of codes"):
        counts.merge(replace(counts, mean=counts.mean + 1))


def test_exact_counts_refuse_numbers_without_a_place(tmp_path):
    log = numbered_log()
    config = small("count-morl", epochs=1, counter="exact")
    counts = Counts.of_run(train(config, log, out=tmp_path / "run", **QUIET).path)
    with pytest.raises(DataError, match="of the 2 pairs hold numbers that the log"):
        counts.add(np.array([[77.0], log["obs"][0]]), np.array([0, log["action"][0]]))


@pytest.mark.parametrize(
    ("obs", "action"),
    [
        ([[1.0, 2.0, 3.0]], [[1.0]]),
        ([[1.0, 2.0]], [[1.0, 1.0]]),
        ([[1.0, 2.0]], [[1.0], [1.0]]),
        ([[np.nan, 2.0]], [[1.0]]),
        ([[1.0, 2.0]], [[np.inf]]),
        ([["a", 2.0]], [[1.0]]),
    ],
)
def test_wrong_pairs(coded, obs, action):
    with pytest.raises(DataError):
        Counts.of_run(coded).counts(np.array(obs), np.array(action))


def spoiled(arrays, meta, name):
    return {
        "lacking": ({k: v for k, v in arrays.items() if k != "table.0.words"}, meta),
        "infinite": (arrays | {"mean": arrays["mean"] * np.inf}, meta),
        "other size": (arrays | {"std": arrays["std"][:1]}, meta),
        "other codes": (arrays | {"table.0.words": np.tile(arrays["table.0.words"], 2)}, meta),
        "integers": (arrays | {"mean": arrays["mean"].astype(int)}, meta),
        "no kind": (arrays, {}),
        "other format": (arrays, meta | {"format": 2}),
        "other members": (arrays, meta | {"members": 1}),
        "thin": (arrays, meta | {"thin": float("nan")}),
        "use": (arrays, meta | {"use": meta["use"] | {"counter": "own"}}),
        "bounds": (arrays, meta | {"use": meta["use"] | {"action_low": [3.0]}}),
        "large": (arrays, meta | {"use": meta["use"] | {n: [0.0] * 9 for n in ("action_low",)}}),
    }[name]


SPOILED = ("lacking", "infinite", "other size", "other codes", "integers", "no kind")
SPOILED += ("other format", "other members", "thin", "use", "bounds", "large")


@pytest.mark.parametrize("name", SPOILED)
def test_foreign_files_of_counts(coded, name):
    with pytest.raises(RunError, match=r"counts"):
        Counts.from_arrays(*spoiled(*Counts.of_run(coded).to_arrays(), name))
