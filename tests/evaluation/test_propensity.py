"""Where the chances of logged actions come from, and when those of a clone are refused."""

import numpy as np
import pytest

from countmorl import load
from countmorl.data.joining import concatenate
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate
from countmorl.evaluation.clone import cloned
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.propensity import (
    RARE,
    Propensities,
    changed,
    fault_of,
    miscounted,
    propensities,
)
from countmorl.evaluation.weighting import weighting
from worlds import chain_log, chain_value


def coins(side=None, likely=None, each=100):
    """Two states, `each` rows of both: in the first 1 is taken in a fifth of them, in the second
    in four fifths."""
    side = [0.2, 0.8] if side is None else side
    taken = np.concatenate([np.arange(each) < round(each * share) for share in side])
    log = {
        "obs": np.repeat([[0.0, 7.0], [1.0, 7.0]], each, axis=0),
        "action": taken.astype(int),
        "reward": np.zeros(2 * each),
        "action_count": np.array(2),
    }
    return load(log if likely is None else log | {"propensity": likely})


def test_chances_that_hold_have_no_fault():
    right = np.repeat([[0.8, 0.2], [0.2, 0.8]], 100, axis=0)
    assert miscounted(right, coins()) == ""


def test_a_clone_that_does_not_look_is_refused():
    """One half says as often as not of either state; 80 of 100 are more than luck."""
    assert miscounted(np.full((200, 2), 0.5), coins()) == (
        "where obs[0] is high, 'action[0]' was taken in 20% of 100 rows that a clone of the log "
        "has not seen, and it says 50%: how likely logged actions were cannot be told."
    )


def test_whoever_acts_otherwise_later_is_found():
    """The first hundred rows take 1 in a fifth, the second in four fifths, and a clone sees no
    difference between them."""
    likely = np.full((200, 2), 0.5)
    assert changed(likely, coins()) == (
        "in the first half of the log 'action[1]' was taken in 20% of 100 rows, and by what was "
        "done in all of it in 50%: whoever acted has changed on the way, and how likely each "
        "action was can only be logged."
    )
    right = np.repeat([[0.8, 0.2], [0.2, 0.8]], 100, axis=0)
    assert changed(right, coins()) == ""
    assert changed(likely, coins([0.5, 0.5])) == ""
    # Wrong in both halves alike is wrong, but no change.
    assert changed(likely, coins([0.2, 0.2])) == ""


def test_mean_chances_of_two_who_acted_are_wrong_and_logged_ones_right():
    """The second half goes on oftener than the first. What is always on is worth what it is by the
    chances of either; by their means in each state, which are as right as a clone can have them,
    the truth lies outside."""
    halves = [(on, chain_log(300, on=on, seed=round(10 * on))) for on in (0.5, 0.95)]
    both = concatenate({f"{on}": log for on, log in halves}, "both")
    own = np.concatenate([np.full(len(log), on) for on, log in halves])
    state, went = both.obs.argmax(axis=1), both.action[:, 1] == 1
    mean = np.array([went[state == each].mean() for each in range(3)])[state]
    always, zeros = Actor.of(lambda obs: np.ones(len(obs), int), both), np.zeros(len(both))
    truth, inside = chain_value(1.0), []
    for on in (own, mean):
        likely = Propensities(values=np.where(went, on, 1 - on), made_by="hand")
        measure = Measure(discount=0.9)
        found = weighting(Logged(dataset=both), always, likely, zeros, zeros, measure)["weighted"]
        assert isinstance(found, Estimate)
        assert found.interval is not None
        inside.append(found.interval[0] < truth < found.interval[1])
    assert inside == [True, False]
    assert "whoever acted has changed" in changed(np.stack([1 - mean, mean], axis=1), both)


def test_of_few_rows_luck_is_not_excluded():
    assert miscounted(np.full((20, 2), 0.5), coins(each=10)) == ""


def test_a_clone_that_is_too_sure_is_refused():
    """It says 0.01 where 0.2 are taken: who weighs by it weighs them twenty times too much."""
    sure = np.repeat([[0.99, 0.01], [0.01, 0.99]], 100, axis=0)
    found = miscounted(sure, coins())
    assert "in 20% of 100 rows" in found
    assert "it says 1%" in found


def test_too_sure_at_a_few_rows_shows_in_the_tenth_where_it_is():
    """Both sides of the median are as they should be; one row in ten is not."""
    chance = np.full(200, 0.5)
    chance[:20] = 0.02
    taken = np.tile([True, False], 100)
    taken[:20] = np.arange(20) < 12
    data = load(
        {
            "obs": np.tile([0.0, 1.0, 1.0, 0.0], 50),
            "action": taken.astype(int),
            "reward": np.zeros(200),
            "action_count": np.array(2),
        }
    )
    found = miscounted(np.stack([1 - chance, chance], axis=1), data)
    assert found.startswith("where its chance should be 0.02 to 0.02, 'action[1]' was taken in 60%")


def test_what_is_as_rare_as_the_least_weight_is_no_fault():
    """Nine of 10,000 rows, and it says none: all are taken to have been as likely as one in a
    thousand."""
    wrong = np.repeat([[1 - 1e-9, 1e-9]], 20_000, axis=0)
    assert miscounted(wrong, coins([9e-4, 9e-4], each=10_000)) == ""
    assert "'action[1]'" in miscounted(wrong, coins([0.01, 0.01], each=10_000))


def test_a_clone_of_the_log_has_no_fault_and_one_of_another_has():
    seen, unseen = chain_log(300, on=0.7), chain_log(100, on=0.7, seed=1)
    clone = cloned(seen, updates=500, seed=0)
    assert fault_of(clone, unseen, seen) == ""
    other = chain_log(300, on=0.2, seed=2)
    assert "rows that a clone of the log has not seen" in fault_of(clone, other, seen)
    both = concatenate({"a": seen, "b": other}, "both")
    assert "whoever acted has changed" in fault_of(clone, unseen, both)
    found = propensities(unseen, clone, "nothing holds.")
    assert found.why == "nothing holds."
    assert found.facts == {"logged_propensities": 0.0}
    done = unseen.action[:, 1] == 1
    assert found.values[done].mean() == pytest.approx(0.7, abs=0.07)
    assert found.values[~done].mean() == pytest.approx(0.3, abs=0.07)


def test_estimated_chances_have_a_floor_and_logged_ones_none():
    log = chain_log(100, on=0.999)
    clone = cloned(log, updates=500, seed=0)
    found = propensities(log, clone, "")
    assert found.values.min() >= RARE
    rare = coins(likely=np.full(200, 1e-6))
    found = propensities(rare, cloned(rare, updates=10, seed=0), "")
    assert found.values == pytest.approx(1e-6)


@pytest.mark.parametrize(("factor", "said"), [(1.0, False), (0.5, False), (0.25, True)])
def test_logged_chances_far_from_a_clones_are_said(factor, said):
    true = np.concatenate([np.where(np.arange(100) < 100 * p, p, 1 - p) for p in (0.2, 0.8)])
    data = coins(likely=true * factor)
    clone = cloned(coins(), updates=1000, seed=0)
    found = propensities(data, clone, "a clone's fault is not that of the log.")
    assert found.values == pytest.approx(true * factor)
    assert found.why == ""
    assert found.facts["clone_apart"] == pytest.approx(1 / factor, rel=0.1)
    assert bool(found.notes) == said
    if said:
        assert found.notes[0].startswith("at half of the rows the logged propensities are ")
