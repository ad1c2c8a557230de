import equinox as eqx
import jax.random as jr
import numpy as np

from countmorl.agents.imitator import Imitator
from models import agent, policy_of, steps


def test_it_imitates_and_nothing_but_the_actor_learns():
    imitator, data = Imitator(agent()), steps(20)
    learn = eqx.filter_jit(lambda who, key: who.update(data, key=key))
    after, facts = learn(imitator, jr.key(0))
    again, later = learn(after, jr.key(1))
    assert later["loss"] < facts["loss"]
    assert eqx.tree_equal(again.agent.state.critics, imitator.agent.state.critics)
    assert not eqx.tree_equal(again.agent.state.actor, imitator.agent.state.actor)


def test_it_acts_and_is_saved_as_the_agent_within():
    imitator = Imitator(agent())
    obs = steps(4).obs
    np.testing.assert_array_equal(imitator.act(obs, key=jr.key(2)), agent().act(obs, key=jr.key(2)))
    ours, theirs = policy_of(imitator, 1), policy_of(agent(), 1)
    np.testing.assert_array_equal(ours.weights[0], theirs.weights[0])


def test_an_agent_begins_as_its_clone():
    clone = eqx.filter_jit(lambda who: who.update(steps(20), key=jr.key(0))[0])(Imitator(agent()))
    begun = agent().begun_as(clone.agent)
    assert eqx.tree_equal(begun.state.actor, clone.agent.state.actor)
    assert eqx.tree_equal(begun.state.averaged, clone.agent.state.actor)
    assert eqx.tree_equal(begun.state.critics, agent().state.critics)
