import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.agents.terms import AbstractCriticTerm, NoTerm
from models import ACTION, OBS, steps


class Low(AbstractCriticTerm):
    """Pulls every value down."""

    def __call__(self, critics, agent, batch, *, key):
        q = agent.head.q(critics, batch.obs, batch.action)
        return 100.0 * jnp.sum(q.mean(axis=1)), {"pulled": q.mean()}


def learned(term):
    sac = SAC.make(SACConfig(hidden=(8, 8)), OBS, ACTION, updates=10, term=term, key=jr.key(1))
    return eqx.filter_jit(lambda agent: agent.update(steps(), key=jr.key(2)))(sac)


def test_a_term_is_added_to_the_critics_loss_and_may_tell_numbers():
    plain, facts = learned(None)
    pulled, more = learned(Low())
    assert set(more) - set(facts) == {"pulled"}
    q = [float(agent.head.q(agent.state.critics, *steps()[:2]).mean()) for agent in (plain, pulled)]
    assert q[1] < q[0]


@pytest.mark.usefixtures("unchecked")
def test_no_term_adds_nothing_and_learns_nothing():
    term = NoTerm()
    extra, facts = term(None, None, None, key=None)  # type: ignore[arg-type]
    np.testing.assert_array_equal(extra, 0)
    assert facts == {}
    assert term.learned({}) is term
    assert term.soft_backup
