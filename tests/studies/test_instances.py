import numpy as np

from countmorl.studies.checks import FAMILIES
from countmorl.studies.instances import EDGE, gamble_instance
from countmorl.tabular.mdp import dense


def test_the_truth_is_in_the_class_and_counts_fit():
    for draw in FAMILIES.values():
        instance = draw(np.random.default_rng(0))
        truth = dense(instance.truth.transition)
        assert any(np.allclose(model, truth) for model in instance.models)
        assert instance.data.counts.shape == instance.truth.reward.shape
        low, high = instance.reward_range
        assert (instance.truth.reward >= low).all()
        assert (instance.truth.reward <= high).all()


def test_gambles_are_as_far_apart_as_asked():
    instance = gamble_instance(np.random.default_rng(0), distance=2.0)
    apart = 0.5 * np.abs(instance.models[0] - instance.models[1]).sum(axis=1)
    assert np.allclose(apart[1:101], 2 / np.sqrt(401))
    assert not apart[0]
    chance = dense(instance.truth.transition)[:101, 1]
    assert np.allclose(chance[0] - chance[1:], EDGE)
