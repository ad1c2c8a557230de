"""The cheap judge of a training, and runs that end by it."""

import numpy as np
import pytest

from auto_parts import write_linear_log
from countmorl import RunOptions, resume, train
from countmorl.data.holdout import draw_holdout
from countmorl.errors import ConfigError, DataError
from countmorl.evaluation import offline
from countmorl.evaluation.fqe import FQEConfig
from countmorl.evaluation.offline import OfflineJudge
from countmorl.runs.manifest import DataOrigin, Manifest
from countmorl.runs.options import DataOptions
from small_runs import small
from worlds import linear_log

BRIEF = FQEConfig(members=3, hidden=(16,), updates=100, batch=64, rate=3e-3, least=10, most=10)
TINY = FQEConfig(members=2, hidden=(8,), updates=5, batch=8, least=10, most=10)


class Always:
    """Does the same everywhere."""

    obs_dim, action_dim, discrete = 1, 1, False

    def __init__(self, action: float) -> None:
        self.action = action

    def act(self, obs):
        return np.full((len(obs), 1), self.action, np.float32)


@pytest.fixture(scope="module")
def judge():
    log = linear_log(60, 30)
    origin = DataOrigin(name="log", hash="", holdout=draw_holdout(log, 0.1, 0))
    manifest = Manifest(algorithm="td3-bc", config={"td3": {"discount": 0.8}}, data=origin)
    return OfflineJudge.of(log, manifest, config=BRIEF)


def test_policies_are_ranked_by_the_log_alone(judge):
    assert judge.measure.discount == 0.8
    low, middle, high = (judge(Always(each), seed=1) for each in (-0.4, 0.0, 0.4))
    assert low.value < middle.value < high.value
    assert high.interval is not None
    assert high.interval[0] == high.value
    assert middle.facts["judged_unseen"] < high.facts["judged_unseen"]


def test_the_same_policy_has_the_same_value_whatever_the_seed(judge):
    assert judge(Always(0.2), seed=1) == judge(Always(0.2), seed=2)


def test_what_was_never_tried_is_as_bad_as_the_worst(judge, monkeypatch):
    before = judge(Always(0.4), seed=0)
    monkeypatch.setattr(OfflineJudge, "_unseen", lambda *_: 0.5)
    after = judge(Always(0.4), seed=0)
    unseen = before.facts["judged_unseen"]
    assert before.value - after.value == pytest.approx((0.5 - unseen) * judge.most_lost)
    assert judge.most_lost > 0


def test_other_sizes_are_refused(judge):
    wide = linear_log(12, 20)
    judge.check(wide, "It")
    with pytest.raises(DataError, match="It has other sizes"):
        judge.check(Sizes(), "It")


class Sizes:
    """Of another log."""

    obs_dim, action_dim, discrete = 3, 1, False


OPTIONS = RunOptions(eval_every=1, save_every=2, stop="offline")


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("timing.jsonl", ".lock")
    }


@pytest.mark.slow
def test_a_run_that_was_killed_ends_with_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(offline, "SMALL", TINY)
    log, config = write_linear_log(tmp_path / "log.npz"), small("bc", epochs=8)
    how = {"options": OPTIONS, "data_options": DataOptions(holdout_episodes=0.2), "quiet": True}
    whole = train(config, log, out=tmp_path / "whole", **how)
    judged = [(record.epoch, record.value) for record in whole.records("policy")]
    assert all(value is not None for _, value in judged)
    best = max(judged, key=lambda each: each[1])[0]
    assert judged[-1][0] == min(8, best + 5)
    kept = whole.kept_policy_path(best)
    assert whole.policy_path.read_bytes() == kept.read_bytes()

    asked, call = [], OfflineJudge.__call__

    def killed(self, policy, *, seed):
        asked.append(seed)
        if len(asked) == 4:
            raise RuntimeError("killed")
        return call(self, policy, seed=seed)

    with monkeypatch.context() as patch:
        patch.setattr(OfflineJudge, "__call__", killed)
        with pytest.raises(RuntimeError, match="killed"):
            train(config, log, out=tmp_path / "broken", **how)
    resume(tmp_path / "broken", quiet=True)
    assert files(tmp_path / "broken") == files(tmp_path / "whole")


def test_without_evaluations_there_is_nothing_to_stop_by():
    with pytest.raises(ConfigError, match="`stop` offline judges the policy every `eval_every`"):
        RunOptions(stop="offline", eval_every=0)
