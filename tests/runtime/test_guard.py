"""Who acts, and until when: by hand, with counts that are told."""

import dataclasses
import json
from dataclasses import dataclass

import numpy as np
import pytest

from countmorl import train
from countmorl.coverage.density import neighbours_of
from countmorl.data.sources import load
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.runtime.base import PolicyLike
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import Guard, GuardSettings, read_settings
from countmorl.runtime.levels import Counted, level_of
from countmorl.runtime.load import load_policy
from small_runs import QUIET, small, vector_log


@dataclass(frozen=True)
class Always:
    """Does the same everywhere; its observation is how often that was logged."""

    action: float
    discrete: bool = False
    obs_dim: int = 1

    @property
    def action_dim(self):
        return 3 if self.discrete else 1

    def act(self, obs, *, rng=None):
        if self.discrete:
            return np.full(len(obs), int(self.action))
        return np.full((len(obs), 1), self.action, np.float32)


class Told:
    """Counts that the observation tells."""

    def counts(self, obs, action):
        members = np.asarray(obs).T.astype(int)
        return Counted(members=members, count=members[0], level=level_of(members, members[0], 5))


def guard_of(*, discrete=False, **settings):
    assert isinstance(Always(0.0), PolicyLike)
    settings = {"threshold": 10.0} | settings
    clone = Always(0.0, discrete) if settings.get("fall_back", "clone") == "clone" else None
    return Guard(
        policy=Always(1.0, discrete),
        counts=Told(),
        settings=GuardSettings(**settings),
        clone=clone,
    )


def acts(guard, counts):
    """The actions of one stream, whose pairs were logged so often."""
    watch = guard.begin()
    steps = [watch.act(np.float32([count])) for count in counts]
    return [float(np.ravel(action)[0]) for action, _ in steps], [why.fell_back for _, why in steps]


def test_below_the_threshold_the_clone_acts():
    action, why = guard_of().act(np.float32([[9], [10], [0]]))
    assert action.tolist() == [[0], [1], [0]]
    assert why.fell_back.tolist() == [True, False, True]
    assert why.count.tolist() == [9, 10, 0]
    assert why.level.tolist() == ["covered", "covered", "unseen"]
    one, why = guard_of().act(np.float32([3]))
    assert (one.tolist(), why.count, why.level, why.fell_back) == ([0], 3, "thin", True)


def test_at_a_threshold_of_0_nothing_falls_back():
    assert acts(guard_of(threshold=0.0), [0, 5])[1] == [False, False]


def test_what_most_members_never_saw_is_below_any_threshold():
    class Crowded(Told):
        def counts(self, obs, action):
            members = np.array([[0], [0], [900]])
            return Counted(members=members, count=members.mean(axis=0), level=np.array(["unseen"]))

    guard = Guard(
        policy=Always(1.0),
        counts=Crowded(),
        settings=GuardSettings(threshold=1.0),
        clone=Always(0.0),
    )
    assert guard.act(np.float32([0]))[1].fell_back is True


def test_it_does_not_flutter():
    """Below 10 it falls back; it ends after 3 steps at the earliest, and at 20 logged pairs."""
    guard = guard_of(dwell=3, release=20.0)
    counts = [15, 9, 99, 99, 99, 15, 9, 15, 15, 15, 19, 20, 15]
    wanted = [0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0]
    assert acts(guard, counts)[1] == list(map(bool, wanted))
    assert acts(guard_of(), counts)[1] == [count < 10 for count in counts]


def test_streams_side_by_side_are_as_they_are_alone():
    guard, rng = guard_of(dwell=3, release=20.0), np.random.default_rng(0)
    counts = rng.integers(0, 40, (30, 5)).astype(np.float32)
    watch = guard.begin(5)
    together = np.array([watch.act(row[:, None])[1].fell_back for row in counts])
    alone = np.array([acts(guard, column)[1] for column in counts.T]).T
    assert (together == alone).all()
    assert 0 < together.mean() < 1


def test_hold_and_fixed_and_abstain():
    assert acts(guard_of(fall_back="fixed", fixed=(0.5,)), [5, 10])[0] == [0.5, 1]
    hold = guard_of(fall_back="hold", fixed=(0.25,))
    assert acts(hold, [5, 10, 5])[0] == [0.25, 1, 1]
    actions, fell = acts(guard_of(fall_back="abstain"), [10, 5])
    assert actions[0] == 1
    assert np.isnan(actions[1])
    assert fell == [False, True]
    assert np.isnan(acts(guard_of(fall_back="hold"), [5])[0][0])


def test_discrete_actions():
    assert acts(guard_of(discrete=True), [10, 5])[0] == [1, 0]
    assert acts(guard_of(discrete=True, fall_back="abstain"), [10, 5])[0] == [1, -1]
    fixed = guard_of(discrete=True, fall_back="fixed", fixed=(2.0,))
    assert acts(fixed, [10, 5])[0] == [1, 2]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"release": 5.0}, "would flutter"),
        ({"fall_back": "fixed"}, "needs `fixed`"),
        ({"fall_back": "fixed", "fixed": (1.0, 2.0)}, "must be 1 finite numbers"),
        ({"fall_back": "fixed", "fixed": (3.0,), "discrete": True}, "one number from 0 to 2"),
        ({"threshold": -1.0}, "`threshold` must be at least 0"),
        ({"dwell": 0}, "`dwell` must be at least 1"),
        ({"fall_back": "pray"}, "`fall_back` must be"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_settings_are_a_sentence(settings, sentence):
    with pytest.raises(ConfigError, match=sentence):
        guard_of(**settings)


def test_a_clone_must_be_there_and_fit():
    parts = {"counts": Told(), "settings": GuardSettings(threshold=1.0)}
    with pytest.raises(ConfigError, match="needs `clone`"):
        Guard(policy=Always(1.0), **parts)
    with pytest.raises(ConfigError, match="other sizes"):
        Guard(policy=Always(1.0), clone=Always(0.0, obs_dim=2), **parts)


def test_observations_of_another_shape_are_a_sentence():
    with pytest.raises(DataError, match=r"shape \[1\], got \[2\]"):
        guard_of().begin().act(np.zeros(2, np.float32))
    with pytest.raises(DataError, match="`begin` says how many"):
        guard_of().begin(3).act(np.zeros((2, 1), np.float32))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("guarded") / "run"
    return train(small("count-morl", epochs=1), vector_log(), out=out, **QUIET).path


@pytest.mark.parametrize("kind", ["codes", "neighbours"])
def test_saved_in_its_run_and_loaded(run, kind):
    data, policy = load(vector_log()), load_policy(run)
    counts = Counts.of_run(run) if kind == "codes" else neighbours_of(data, None)
    settings = GuardSettings(threshold=3.0, release=6.0, dwell=2, counts=kind)
    guard = Guard(policy=policy, counts=counts, settings=settings, clone=policy)
    guard.save(run)
    back = Guard.load(run)
    assert (back.settings.counts, back.settings.dwell) == (kind, 2)
    (one, why), (two, other) = guard.act(data.obs), back.act(data.obs)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(why.count, other.count)
    assert why.fell_back.any() == other.fell_back.any()


@pytest.mark.parametrize("name", ["clone.safetensors", "neighbours.safetensors"])
def test_parts_of_two_guards_are_not_taken_for_one(run, name):
    """As a kill leaves them that comes when a second guard is half written."""
    data, policy = load(vector_log()), load_policy(run)
    settings, counts = GuardSettings(threshold=3.0), neighbours_of(data, None)
    guard = Guard(policy=policy, counts=counts, settings=settings, clone=policy)
    guard.save(run)
    part = run / "guard" / name
    whole = part.read_bytes()
    if name == "clone.safetensors":
        dataclasses.replace(policy, info={"another": 1}).save(part)
    else:
        dataclasses.replace(counts, thin=counts.thin + 1).save(part)
    with pytest.raises(RunError, match="are of two guards"):
        Guard.load(run)
    part.write_bytes(whole)
    Guard.load(run)
    settings = run / "guard" / "guard.json"
    values = json.loads(settings.read_text())
    del values["parts"]  # As earlier versions wrote it.
    settings.write_text(json.dumps(values))
    Guard.load(run)


def test_damage_and_change_are_a_sentence(run):
    data, policy = load(vector_log()), load_policy(run)
    settings = GuardSettings(threshold=3.0)
    Guard(policy=policy, counts=neighbours_of(data, None), settings=settings, clone=policy).save(
        run
    )
    path = run / "guard" / "guard.json"
    values = json.loads(path.read_text())
    for change, sentence in (
        ({"policy": "0" * 64}, "has changed since"),
        ({"format": 9}, "has format 9"),
        ({"dwell": -3}, "is damaged: `dwell`"),
        ({"threshold": "many"}, "is damaged: `threshold`"),
        ({"fall_back": "fixed", "fixed": [1.0, 2.0]}, "is no guard of this policy"),
    ):
        path.write_text(json.dumps(values | change))
        with pytest.raises(RunError, match=sentence):
            Guard.load(run)
    path.unlink()
    with pytest.raises(RunError, match="has no guard yet"):
        read_settings(run)
