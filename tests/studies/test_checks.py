import numpy as np
import pytest

from countmorl.errors import ConfigError
from countmorl.studies.checks import FAMILIES, VARIANTS, Test, Variant, violation_study, worst

Test.__test__ = False  # Not a test of pytest's.
DELTA = 0.05

# Half a million small calls; test_figures has some that are checked.
pytestmark = pytest.mark.usefixtures("unchecked")


def shares(variant, families=None):
    chosen = {name: FAMILIES[name] for name in families or FAMILIES}
    found = worst(violation_study(60, delta=DELTA, variant=variant, families=chosen, seed=1))
    return {statement: finding.share for statement, finding in found.items()}


def test_every_statement_holds():
    found = shares(Variant())
    assert len(found) == 13
    assert max(found.values()) <= DELTA


@pytest.mark.parametrize(
    ("variant", "families", "statements"),
    [
        ("no union", ["gamble 2.8"], ["Corollary 1, all pairs", "Lemma 1, finite class"]),
        ("paper's", ["gamble 2.2"], ["Lemma 1, multinomial", "Corollary 2, multinomial"]),
        ("paper's", ["gamble 2.8"], ["Theorem 2, finite class"]),
        ("halved", ["gamble 2.2"], ["Corollary 1, all pairs", "multinomial L1, all pairs"]),
        ("no penalty", ["gamble 1.4"], ["Corollary 2, finite class", "Theorem 2, multinomial"]),
    ],
)
def test_a_broken_bound_is_caught(variant, families, statements):
    found = shares(VARIANTS[variant], families)
    assert all(found[statement] > DELTA for statement in statements)


def test_a_single_pair_halved_is_caught():
    found = violation_study(
        400,
        delta=DELTA,
        variant=Variant(scale=0.45),
        families={"gamble 1.4": FAMILIES["gamble 1.4"]},
    )
    one = {f.statement: f.share for f in found}
    assert one["Theorem 1, one pair"] > DELTA


def test_same_seed_same_findings():
    few = {"random": FAMILIES["random"]}
    assert violation_study(5, families=few) == violation_study(5, families=few)
    with pytest.raises(ConfigError, match="at least 1"):
        violation_study(0)


def test_a_test_of_a_statement():
    tight = Test(statement="x", actual=1.0, bound=2.0)
    assert (tight.violated, tight.tightness) == (False, 0.5)
    assert Test(statement="x", actual=1.0, bound=0.0).tightness == np.inf
    assert Test(statement="x", actual=-1.0, bound=0.0).tightness == 0
