import numpy as np
import pytest

from countmorl.configs import to_json
from countmorl.errors import RunError
from countmorl.studies.audit_tables import Agreement, Audit, Sample, step_groups, summed_up


def sample(**changes):
    """Two policies, two steps each; `good` grows with the error and `bad` falls."""
    columns = {
        "policy": np.array(["run", "run", "random", "random"]),
        "step": np.array([1, 2, 1, 2]),
        "error": np.array([0.1, 0.2, 0.3, 0.4]),
        "reward_gap": np.array([1.0, 3.0, -1.0, 0.0]),
        "unseen": np.array([0.0, 0.0, 1.0, 0.0]),
        "penalties": {"good": np.array([1.0, 2, 3, 4]), "bad": np.array([4.0, 3, 2, 1])},
    }
    return Sample(**{**columns, **changes})


ABOUT = Audit(run="r", task="t", horizon=2, starts=1)


class TestAgreement:
    def test_by_hand(self):
        """d = (0, 1, 1): rho = 1 - 6 * 2 / (3 * 8) = 0.5. The worst is above one of two."""
        found = Agreement.of(np.array([1.0, 3, 2]), np.array([1.0, 2, 3]))
        assert found.rank_correlation == pytest.approx(0.5)
        assert found.auc == pytest.approx(0.5)

    def test_the_worst_tenth(self):
        """Of 20 pairs the two worst: one above all 18 others, one above 9 of them."""
        error = np.arange(20.0)
        penalty = np.arange(20.0)
        penalty[18] = 8.5
        assert Agreement.of(penalty, error).auc == pytest.approx((18 + 9) / 36)

    @pytest.mark.parametrize(
        ("penalty", "error"), [([1, 1], [1, 2]), ([1, 2], [1, 1]), ([1], [1]), ([], [])]
    )
    def test_what_never_varies_has_no_order(self, penalty, error):
        found = Agreement.of(np.array(penalty, float), np.array(error, float))
        assert (found.rank_correlation, found.auc) == (None, None)


def test_steps_are_grouped():
    groups = step_groups(np.array([1, 2, 3, 5, 6, 20]))
    assert list(groups) == ["1", "2", "3-5", "6-10", "11-20"]
    assert groups["3-5"].tolist() == [False, False, True, True, False, False]


def test_a_sample_is_summed_up():
    found = summed_up(ABOUT, sample())
    good, bad = found.penalties
    assert (good.overall.rank_correlation, bad.overall.rank_correlation) == (1, -1)
    assert (good.overall.auc, bad.overall.auc) == (1, 0)
    assert (good.medians, list(good.by_step)) == ({"run": 1.5, "random": 3.5}, ["1", "2"])
    run, random = found.policies
    assert (run.pairs, run.reward_gap, run.unseen) == (2, 2.0, 0)
    assert run.error == pytest.approx(0.15)
    assert random.reward_gap_by_step == {"1": -1.0, "2": 0.0}
    assert random.unseen == 0.5
    assert to_json(found)["pairs"] == 4


def test_the_first_steps_alone():
    found = summed_up(ABOUT, sample().until(1))
    assert [each.pairs for each in found.policies] == [1, 1]


def test_samples_are_joined():
    both = Sample.join([sample(), sample()])
    assert (len(both.error), len(both.penalties["bad"])) == (8, 8)
    assert Sample.join([sample(unseen=None)]).unseen is None


def test_nothing_that_could_be_simulated_is_said():
    with pytest.raises(RunError, match="No pair that was imagined in r"):
        summed_up(ABOUT, sample().until(0))
