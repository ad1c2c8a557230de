"""A study of guards on a pendulum: what is played, and by whom."""

import numpy as np
import pytest

from countmorl import Run, load_policy
from countmorl.errors import ConfigError
from countmorl.studies.guard import GuardStudy, Spoilt, guard_study


@pytest.mark.slow
def test_every_policy_by_both_counts(pendulum, tmp_path):
    load_policy(pendulum / "run").save(tmp_path / "other.safetensors")
    config = GuardStudy(quantiles=(0.1,), episodes=1, clone_updates=5)
    found = guard_study(
        [Run.open(pendulum / "run")],
        config,
        task="Pendulum-v1",
        policies=[tmp_path / "other.safetensors"],
    )
    assert [(each.counts, each.policy) for each in found] == [
        (kind, name)
        for kind in ("codes", "neighbours")
        for name in ("run", "other", "clone + 0.5", "chance")
    ]
    for each in found:
        alone, guarded, back = each.points
        assert alone.played.rate == 0
        assert back.played.rate == 1
        assert 0 <= guarded.played.rate <= 1
    # The fall-back is the same whatever the policy.
    assert len({each.points[-1].played.returns for each in found}) == 1
    assert found[0].points[0].played == found[1].points[0].played
    assert found[0].as_dict()["points"][0]["name"] == "unguarded"


def test_noise_and_chance(pendulum):
    policy = load_policy(pendulum / "run")
    obs = np.random.default_rng(0).standard_normal((400, 3)).astype(np.float32)

    def spoilt(noise, policy=policy):
        rng = np.random.default_rng(0)
        return Spoilt(
            space=load_policy(pendulum / "run").space, size=3, noise=noise, policy=policy, rng=rng
        )

    np.testing.assert_allclose(spoilt(0.0).act(obs), policy.act(obs), atol=1e-6)
    moved = spoilt(0.1).act(obs) - policy.act(obs)
    assert moved.std() == pytest.approx(0.2, rel=0.1)
    chance = spoilt(0.0, None).act(obs)
    assert np.abs(chance).max() <= 2
    assert chance.std() == pytest.approx(2 / 3**0.5, rel=0.1)


def test_bad_wishes_are_a_sentence(pendulum):
    with pytest.raises(ConfigError, match="`quantiles`"):
        GuardStudy(quantiles=())
    with pytest.raises(ConfigError, match="`episodes`"):
        GuardStudy(episodes=0)
    with pytest.raises(ConfigError, match="no task"):
        guard_study([Run.open(pendulum / "run")], GuardStudy())
