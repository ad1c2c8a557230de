from dataclasses import replace

import jax.random as jr
import pytest

from countmorl import counts, load, train
from countmorl.agents.sac_config import NO_PULL, Pull
from countmorl.algorithms import model_based
from countmorl.algorithms.model_based import STEPS, published_rates
from countmorl.algorithms.mopo import MOPO
from countmorl.errors import ConfigError
from small_runs import MODEL, QUIET, small, vector_log


def test_shares_become_whole_numbers_of_rows_and_rollouts():
    config = MOPO(batch=256, real_share=0.05, horizon=4, continued=0.8)
    assert (config.real_rows, config.imagined_rows) == (12, 244)
    assert (config.begun, config.going_on) == (STEPS // 4, 20_000)
    assert MOPO(branches=7, continued=0.5).going_on == 3
    assert MOPO(horizon=10**6).begun == 1


def test_methods_that_lower_no_reward_have_the_published_rates():
    assert (published_rates().discount, published_rates().actor_rate) == (0.99, 1e-4)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"real_share": 1.0}, "`real_share` must be below 1"),
        ({"continued": 1.0}, "`continued` must be below 1"),
        ({"branches": 0}, "`branches` must be at least 1"),
        ({"horizon": 0}, "`horizon`"),
        ({"clone_epochs": -1}, "`clone_epochs`"),
        ({"imitate": -1.0}, "`imitate`"),
        ({"imitate": 1.0, "real_share": 0.0}, "`imitate` draws .* `real_share` leaves none"),
        ({"imitate": 1.0, "real_share": 0.001}, "`imitate` draws .* `real_share` leaves none"),
    ],
)
def test_wrong_settings_are_refused(wrong, words):
    with pytest.raises(ConfigError, match=words):
        MOPO(**wrong)


def test_imitation_pulls_at_the_real_rows_of_a_batch():
    log = load(vector_log())
    made = small("mopo", imitate=0.3, real_share=0.25).agent(log, key=jr.key(0))
    assert made.pull == Pull(0.3, 5)
    assert small("mopo", real_share=0.25).agent(log, key=jr.key(0)).pull == NO_PULL


@pytest.mark.usefixtures("unchecked")
def test_by_default_nothing_is_added_to_losses_and_nothing_works_against_the_policy():
    config = MOPO()
    assert config.critic_term(None) is None  # type: ignore[arg-type]
    assert config.model_adversary(None) is None  # type: ignore[arg-type]
    assert config.model_term(None, None, None) is None  # type: ignore[arg-type]
    assert config.policy_epochs(0) == config.epochs


def test_imitation_by_the_data_is_a_weight_of_how_much_is_no_chance(monkeypatch):
    log = load(vector_log())
    variance = float(log.transitions("all").action.var(axis=0).sum())
    # (1 - c) / c^2: 0.75 / 0.0625 = 12; it is 64 at the most, which less chance does not change.
    for chance, wanted in ((0.25, 12), (0.1, 64), (0.0, 64)):
        monkeypatch.setattr(model_based, "chance_of_actions", lambda *_, c=chance, **__: c)
        made = small("mopo", imitate="auto", real_share=0.25).agent(log, key=jr.key(0))
        assert made.pull.weight == pytest.approx(wanted / 64 / variance)
    monkeypatch.setattr(model_based, "chance_of_actions", lambda *_, **__: 1.0)
    assert small("mopo", imitate="auto").agent(log, key=jr.key(0)).pull == NO_PULL


@pytest.mark.slow
@pytest.mark.parametrize("name", ["count-morl", "rambo", "repb-sde"])
def test_whatever_uses_the_model_takes_normalised_ones(name, tmp_path):
    """Codes read their features, RAMBO changes them, RepB-SDE balances them."""
    config = small(name, model=replace(MODEL, norm=True))
    run = train(config, vector_log(), out=tmp_path / "run", **QUIET)
    assert run.policy_path.exists()
    if name == "count-morl":
        query, data = counts(run), load(vector_log())
        assert query.ensemble.members.gains is not None
        assert query(data.obs, data.action).members.max() > 0
