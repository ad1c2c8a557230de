import pytest

from countmorl import BC, CountMORL
from countmorl.errors import ConfigError
from countmorl.sweeps.methods import Method

DATA = "hopper-medium-replay-v2"


def test_a_config_a_name_and_a_label():
    assert Method.of("bc") == Method(algorithm="bc")
    named = Method.of(BC(epochs=7), "clone")
    assert (named.algorithm, named.name, named.label) == ("bc", "clone", "clone")
    assert named.config(DATA, {}) == BC(epochs=7)
    assert named.config(DATA, {"updates": 3}) == BC(epochs=7, updates=3)


def test_every_combination_of_a_grid_has_its_label():
    grid = {"beta": (1.0, 3.0), "sac.hidden": ((8, 8),), "estimate": ("LC", "UC")}
    method = Method(algorithm="count-morl", settings={"horizon": 2}, grid=grid)
    found = method.variants()
    assert method.size == len(found) == 4
    assert found[0] == (
        "count-morl, beta 1.0, sac.hidden 8 8, estimate LC",
        {"horizon": 2, "beta": 1.0, "sac.hidden": (8, 8), "estimate": "LC"},
    )
    config = method.config(DATA, found[3][1])
    assert (config.beta, config.horizon, config.estimate) == (3.0, 2, "UC")
    assert config.sac.hidden == (8, 8)


def test_without_a_grid_there_is_one():
    assert Method(algorithm="bc").variants() == [("bc", {})]


def test_a_grid_without_values_is_refused():
    with pytest.raises(ConfigError, match=r"grid of bc has no values for `epochs`"):
        Method(algorithm="bc", grid={"epochs": ()}).variants()


def test_a_preset_follows_the_data_and_the_settings():
    method = Method(algorithm="count-morl", preset="paper")
    assert method.config("hopper-medium-replay-v2", {}).horizon == 5
    assert method.config("hopper-medium-v2", {}).horizon == 20
    chosen = method.config("hopper-medium-replay-v2", {"estimate": "LC"})
    assert (chosen.estimate, chosen.beta) == ("LC", 3.0)  # The paper's beta goes with the estimate.
    assert method.config("hopper-medium-replay-v2", {"beta": 9.0}).beta == 9.0


def test_a_method_that_published_nothing_keeps_its_defaults():
    method = Method(algorithm="repb-sde", preset="paper")
    assert not method.has_preset
    assert method.config(DATA, {}).epochs == 300
    assert Method(algorithm="bc", preset="paper").has_preset
    assert Method(algorithm="repb-sde").has_preset


def test_wrong_settings_and_names_are_sentences():
    with pytest.raises(ConfigError, match=r"CountMORL has no setting 'betta'. Did you mean 'beta'"):
        Method(algorithm="count-morl").config(DATA, {"betta": 1.0})
    with pytest.raises(ConfigError, match=r"'sac.discont'. Did you mean 'sac.discount'"):
        Method.of(CountMORL()).config(DATA, {"sac.discont": 1.0})
    with pytest.raises(ConfigError, match=r"No method named 'count-moral'"):
        Method(algorithm="count-moral").config(DATA, {})
    with pytest.raises(ConfigError, match=r"`beta` must be float"):
        Method(algorithm="count-morl").config(DATA, {"beta": "much"})
    with pytest.raises(ConfigError, match=r"has no preset 'quick'"):
        Method(algorithm="bc", preset="quick").config(DATA, {})
