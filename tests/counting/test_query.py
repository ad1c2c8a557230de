import numpy as np
import pytest

import countmorl
from countmorl import Run, train
from countmorl.counting.query import CountUse
from countmorl.errors import DataError, RunError
from small_runs import QUIET, small, vector_log


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("counted") / "run"
    return train(small("count-morl", epochs=1), vector_log(), out=out, **QUIET)


def test_counts_of_a_run_by_folder_or_run(run):
    log = vector_log()
    first = countmorl.counts(run.path)(log["obs"], log["action"])
    again = countmorl.counts(Run.open(run.path))(log["obs"], log["action"])
    np.testing.assert_array_equal(first.members, again.members)
    assert first.members.shape == (2, 300)
    summary = first.summary()
    assert summary["pairs"] == 300
    assert 0 <= summary["unseen"] < 0.5
    assert list(summary["count_quantiles"]) == ["5%", "25%", "50%", "75%", "95%"]


def test_actions_are_clipped_as_in_training_and_no_farther(run):
    query, obs = countmorl.counts(run), vector_log()["obs"][:50]

    def members(action):
        return query(obs, np.full((50, 1), action)).members

    # Bounds are 0 and 2: rounding beyond them is put on them, as training does.
    np.testing.assert_array_equal(members(2.001), members(2.0))
    np.testing.assert_array_equal(members(-0.0005), members(0.0))
    # What lies far outside is not taken for what was logged at the bound.
    assert (members(2000.0) != members(2.0)).any()


def test_a_single_pair_and_wrong_shapes(run):
    query, log = countmorl.counts(run), vector_log()
    one = query(log["obs"][0], log["action"][0])
    assert one.members.shape == (2, 1)
    for obs, action in ((log["obs"][:, :1], log["action"]), (log["obs"][:3], log["action"])):
        with pytest.raises(DataError, match="observations and actions of 2 and 1 numbers"):
            query(obs, action)


def test_runs_that_count_nothing_say_so(tmp_path):
    run = train(small("bc"), vector_log(), out=tmp_path / "run", **QUIET)
    with pytest.raises(RunError, match=r"holds no counts. They come with the algorithms"):
        countmorl.counts(run)


def test_a_counter_without_its_use_is_incomplete(run, tmp_path):
    import shutil

    copy = Run(shutil.copytree(run.path, tmp_path / "copy"))
    arrays, _ = copy.load_result("counter")
    copy.save_result("counter", arrays, use={"counter": "codes"})
    with pytest.raises(RunError, match=r"counter.safetensors is incomplete"):
        countmorl.counts(copy)
    copy.save_result("counter", {}, **{"use": vars_of_use()})
    with pytest.raises(RunError, match=r"counter.safetensors is incomplete"):
        countmorl.counts(copy)


def vars_of_use():
    from dataclasses import asdict

    use = CountUse(
        counter="codes",
        beta=1.0,
        estimate="AVG",
        alpha=0.5,
        action_low=(0.0,),
        action_high=(2.0,),
        discrete=False,
    )
    return asdict(use)
