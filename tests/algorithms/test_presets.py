from operator import attrgetter
from typing import Any

import pytest

from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.bc import BC
from countmorl.algorithms.combo import COMBO
from countmorl.algorithms.count_morl import CountMORL
from countmorl.algorithms.cql import CQL
from countmorl.algorithms.mopo import MOPO
from countmorl.algorithms.morel import MOReL
from countmorl.algorithms.presets import preset, presets_of, task_name
from countmorl.algorithms.rambo import RAMBO
from countmorl.errors import ConfigError

PAPER = CountMORL.published_rows()
# H, beta for LC, AVG and UC, d, as printed, for HalfCheetah, Hopper, Walker2d.
PRINTED = {
    "random": "5 1 .5 1 50  20 1 1 3 80  20 1 1 1 64",
    "medium": "5 1 1 3 32  20 1 1 1 50  20 3 3 3 32",
    "medium-replay": "5 1 3 3 32  5 3 3 1 50  5 1 3 1 32",
    "medium-expert": "5 3 1 3 32  20 3 3 3 50  20 3 3 3 50",
}


@pytest.mark.parametrize("quality", PRINTED)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_papers_table(quality, place):
    robot = ("halfcheetah", "hopper", "walker2d")[place]
    horizon, *betas, bits = map(float, PRINTED[quality].split()[5 * place : 5 * place + 5])
    for estimate, beta in zip(("LC", "AVG", "UC"), betas, strict=True):
        chosen = CountMORL(estimate=estimate)  # type: ignore[arg-type]
        config: Any = preset("paper", CountMORL, f"{robot}-{quality}-v2", chosen=chosen)
        assert (config.horizon, config.beta, config.codes.bits) == (horizon, beta, bits)
        assert config.estimate == estimate


def test_every_method_tells_its_presets():
    assert presets_of(CountMORL).startswith("default, paper (12 tasks of D4RL; the paper's")
    assert presets_of(CountMORL).endswith("quick (minutes)")
    assert presets_of(MOReL) is None


@pytest.mark.parametrize(
    "data",
    [
        "hopper-medium-replay-v2",
        "hopper-medium-replay-v0",
        "data/hopper_medium_replay-recipe.hdf5",
        "C:\\logs\\hopper_medium_replay-v2.hdf5",
    ],
)
def test_paper_settings_of_hopper_medium_replay(data):
    config = preset("paper", CountMORL, data)
    assert isinstance(config, CountMORL)
    assert (config.horizon, config.beta, config.estimate, config.codes.bits) == (5, 1, "UC", 50)
    assert (config.epochs, config.sac.target_entropy, config.sac.average_share) == (1000, -3.0, 0.0)
    assert config.continued == 0
    assert (config.sac.discount, config.sac.normalize, config.sac.critic_norm) == (
        0.99,
        False,
        False,
    )


def test_the_longest_name_counts():
    assert task_name("walker2d-medium-v2", PAPER) == "walker2d-medium"
    assert task_name("walker2d_medium_expert-v2.hdf5", PAPER) == "walker2d-medium-expert"
    assert task_name("my-log.npz", PAPER) is None
    assert task_name("hopper_mediumreplay.hdf5", PAPER) is None
    assert task_name("hopper_medium.hdf5", PAPER) == "hopper-medium"


def test_the_papers_beta_goes_with_the_estimate():
    data = "halfcheetah-medium-expert-v2"
    config = preset("paper", CountMORL, data)
    assert (config.estimate, config.beta) == ("UC", 3)  # type: ignore[attr-defined]
    config = preset("paper", CountMORL, data, chosen=CountMORL())
    assert (config.estimate, config.beta) == ("AVG", 1)  # type: ignore[attr-defined]


def test_presets_that_do_not_exist_are_refused():
    with pytest.raises(ConfigError, match="No settings of CountMORL are published for 'my-log"):
        preset("paper", CountMORL, "my-log.npz")
    with pytest.raises(ConfigError, match="BC has no preset"):
        preset("quick", BC, "hopper-medium-v2")


def test_quick_is_smaller_than_the_default():
    quick, default = preset("quick", CountMORL, ""), CountMORL()
    assert quick.epochs * quick.begun < default.epochs * default.begun / 10


def test_rollouts_make_as_many_steps_whatever_their_horizon():
    assert [CountMORL(horizon=h).begun for h in (1, 5, 20)] == [100_000, 20_000, 5_000]
    assert preset("paper", CountMORL, "hopper-medium-expert-v2").begun == 50_000


# Horizon and weight as printed, for HalfCheetah, Hopper, Walker2d.
TABLES = {
    "mopo": {
        "random": "5 .5  5 1  1 1",
        "medium": "5 .5  5 5  5 .5",
        "medium-replay": "5 .5  5 2.5  1 2.5",
        "medium-expert": "5 2.5  5 5  1 2.5",
    },
    "combo": {
        "random": "5 .5  5 1  5 .5",
        "medium": "5 .5  5 5  1 5",
        "medium-replay": "5 .5  5 .5  1 .5",
        "medium-expert": "5 5  5 5  1 5",
    },
    "rambo": {
        "random": "5 0  2 3e-4  5 0",
        "medium": "5 3e-4  5 3e-4  5 0",
        "medium-replay": "5 3e-4  2 3e-4  5 0",
        "medium-expert": "5 3e-4  5 3e-4  2 3e-4",
    },
}


@pytest.mark.parametrize("quality", ["random", "medium", "medium-replay", "medium-expert"])
@pytest.mark.parametrize("name", TABLES)
def test_published_horizons_and_weights_of_rivals(name, quality):
    weight = {"mopo": "weight", "combo": "conservative.weight", "rambo": "adversary.weight"}[name]
    numbers = list(map(float, TABLES[name][quality].split()))
    for index, robot in enumerate(("halfcheetah", "hopper", "walker2d")):
        config = preset("paper", ALGORITHMS[name], f"{robot}-{quality}-v2")
        got = (config.horizon, attrgetter(weight)(config))  # type: ignore[attr-defined]
        assert got == tuple(numbers[2 * index : 2 * index + 2])
        assert preset("paper", ALGORITHMS[name], f"{robot}_{quality}-recipe.hdf5") == config


def test_published_settings_reach_nested_fields():
    combo = preset("paper", COMBO, "walker2d-medium-v2")
    assert (combo.horizon, combo.conservative.weight) == (1, 5.0)  # type: ignore[attr-defined]
    cql = preset("paper", CQL, "hopper-medium-v2")
    assert (cql.sac.hidden, cql.clone_epochs) == ((256,) * 3, 40)  # type: ignore[attr-defined]
    assert (cql.sac.actor_rate, cql.sac.normalize, cql.sac.critic_norm) == (1e-4, False, False)  # type: ignore[attr-defined]
    rambo = preset("paper", RAMBO, "walker2d-medium-v2")
    assert rambo.sac.normalize  # type: ignore[attr-defined]
    assert rambo.adversary.weight == 0  # type: ignore[attr-defined]
    for algorithm in ALGORITHMS.values():
        if algorithm.published:
            assert len(algorithm.published.rows) == 12
            assert algorithm.published.source
            for data in algorithm.published.rows:
                config = preset("paper", algorithm, data)
                assert isinstance(config, algorithm)
                for learner in filter(None, (getattr(config, n, None) for n in ("sac", "td3"))):
                    assert learner.discount == 0.99
                    assert learner.average_share == 0
                    assert not learner.mean_start
                assert getattr(config, "continued", 0) == 0
                assert config.epochs >= 1000
    with pytest.raises(ConfigError, match="No settings of MOPO are published for 'my-log"):
        preset("paper", MOPO, "my-log.npz")


@pytest.mark.parametrize("algorithm", [COMBO, RAMBO])
def test_methods_that_lower_no_reward_keep_their_published_rates_by_default(algorithm):
    default, published = algorithm().sac, preset("paper", algorithm, "hopper-medium-replay-v2").sac
    assert (default.discount, default.actor_rate) == (published.discount, published.actor_rate)
    assert default.discount < MOPO().sac.discount
