"""Do the guarantees hold? Count how often each statement fails on worlds where the truth is known.

A statement that holds with probability 1 - delta may fail in a share delta of the instances, in
every family of instances. The same function judges altered bounds, and must catch the false ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from countmorl.errors import ConfigError
from countmorl.studies.instances import Instance, gamble_instance, random_instance
from countmorl.tabular import bounds
from countmorl.tabular.certificate import Assumptions, certificate
from countmorl.tabular.conservative import conservative_mdp
from countmorl.tabular.estimate import best_of_class, maximum_likelihood
from countmorl.tabular.mdp import TabularMDP, dense
from countmorl.tabular.planning import policy_iteration, start_value, visitation

Draw = Callable[[np.random.Generator], Instance]
FAMILIES: dict[str, Draw] = {
    "random": random_instance,
    **{
        f"gamble {distance:g}": partial(gamble_instance, distance=distance)
        for distance in (1.4, 2.2, 2.8, 4.4)
    },
}
"""The gambles' distances lie just above bounds that are halved, not shared, or neither."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The guarantees as corrected here, or altered in one way."""

    scale: float = 1.0
    """Multiplies the bound on TV."""
    factor: Literal["sound", "paper", "none"] = "sound"
    """What multiplies C in values: the span, the paper's Rmax / (1 - gamma), or no penalty."""
    union: bool = True
    """Whether delta is shared among the pairs."""


VARIANTS = {
    "corrected": Variant(),
    "no union": Variant(union=False),
    "paper's": Variant(factor="paper"),
    "halved": Variant(scale=0.5),
    "no penalty": Variant(factor="none"),
}


@dataclass(frozen=True, kw_only=True)
class Test:
    """One statement on one instance: the statement says actual <= bound."""

    statement: str
    actual: float
    bound: float

    @property
    def violated(self) -> bool:
        """Whether the statement is false here, beyond rounding."""
        return bool(self.actual > self.bound + 1e-7)

    @property
    def tightness(self) -> float:
        """actual / bound: 1 where the bound could not be smaller."""
        if self.bound > 0:
            return self.actual / self.bound
        return np.inf if self.violated else 0.0


@dataclass(frozen=True, kw_only=True)
class StatementResult:
    """How one statement fared in one family."""

    statement: str
    family: str
    instances: int
    violations: int
    median_tightness: float
    highest_tightness: float

    @property
    def share(self) -> float:
        """Share of the instances in which the statement was false."""
        return self.violations / self.instances


def violation_study(
    instances: int = 1000,
    *,
    delta: float = 0.05,
    variant: Variant | None = None,
    seed: int = 0,
    families: dict[str, Draw] | None = None,
) -> list[StatementResult]:
    """Judge every statement on so many instances of each family."""
    if instances < 1:
        raise ConfigError(f"`instances` must be at least 1, got {instances}.")
    if seed < 0:
        raise ConfigError(f"`seed` must be at least 0, got {seed}.")
    findings = []
    for number, (family, draw) in enumerate((families or FAMILIES).items()):
        rng = np.random.default_rng([seed, number])
        tests: dict[str, list[Test]] = {}
        for _ in range(instances):
            for test in examine(draw(rng), delta, variant or Variant()):
                tests.setdefault(test.statement, []).append(test)
        findings += [_summary(name, family, results) for name, results in tests.items()]
    return findings


def worst(findings: list[StatementResult]) -> dict[str, StatementResult]:
    """Return, for each statement, the family in which it failed most."""
    result: dict[str, StatementResult] = {}
    for finding in findings:
        known = result.get(finding.statement, finding)
        rank, best = ((f.share, f.highest_tightness) for f in (finding, known))
        if rank >= best:
            result[finding.statement] = finding
    return result


def examine(instance: Instance, delta: float, variant: Variant) -> Iterator[Test]:
    """Judge every statement on one instance."""
    truth, data = instance.truth, instance.data
    pairs = data.states * data.actions
    each = bounds.shared_delta(delta, pairs if variant.union else 1)
    counts, size = data.counts, len(instance.models)
    shares = replace(maximum_likelihood(data, gamma=truth.gamma), reward=truth.reward)
    chosen = replace(shares, transition=best_of_class(data, instance.models))

    def finite(count: np.ndarray, d: float) -> np.ndarray:
        return variant.scale * bounds.error_bound(count, models=size, delta=d)

    def multinomial(count: np.ndarray, d: float) -> np.ndarray:
        return variant.scale * bounds.multinomial_bound(
            count, outcomes=instance.successors, delta=d
        )

    exact, rough = finite(counts, each), finite(instance.approximate, each)
    epsilon = bounds.approximation_error(exact, rough)
    off, apart = _distance(chosen, truth), _distance(shares, truth)
    one = finite(counts, delta)
    yield Test(statement="Theorem 1, one pair", actual=off[0, -1], bound=one[0, -1])
    yield _all_pairs("Corollary 1, all pairs", off, exact)
    yield _all_pairs("Definitions 1-2, all pairs", off, rough + epsilon)
    one = multinomial(counts, delta)
    yield Test(statement="multinomial L1, one pair", actual=apart[0, -1], bound=one[0, -1])
    yield _all_pairs("multinomial L1, all pairs", apart, multinomial(counts, each))
    factor = _factor(instance, variant)
    yield from _values("finite class", truth, chosen, rough, epsilon, factor)
    yield from _values("multinomial", truth, shares, multinomial(counts, each), 0.0, factor)
    if variant == Variant():
        yield from _certificates(instance, delta)


def _values(
    kind: str,
    truth: TabularMDP,
    model: TabularMDP,
    error: np.ndarray,
    epsilon: float,
    factor: float,
) -> Iterator[Test]:
    """Lemma 1, Corollary 2 and Theorem 2, on the policies that can hurt most."""
    careful = conservative_mdp(model, error, factor=factor)
    chosen, best = policy_iteration(careful).policy, policy_iteration(truth).policy
    constants = {"epsilon": epsilon, "factor": factor, "gamma": truth.gamma}
    gaps, falls = [], []
    for policy in (chosen, best, policy_iteration(model).policy):
        true, estimated = start_value(truth, policy), start_value(model, policy)
        mean = float((visitation(model, policy) * error).sum())
        gap = bounds.value_gap(mean_error=mean, **constants)
        gaps.append(Test(statement=f"Lemma 1, {kind}", actual=abs(estimated - true), bound=gap))
        # V_tilde - V_star <= allowed, with V_hat - V_tilde added to both sides.
        penalty = estimated - start_value(careful, policy)
        allowed = penalty + bounds.conservatism_error(**constants)
        falls.append(Test(statement=f"Corollary 2, {kind}", actual=estimated - true, bound=allowed))
    yield max(gaps, key=lambda test: test.tightness)
    yield max(falls, key=lambda test: test.tightness)
    mean = float((visitation(model, best) * error).sum())
    yield Test(
        statement=f"Theorem 2, {kind}",
        actual=start_value(truth, best) - start_value(truth, chosen),
        bound=bounds.suboptimality_gap(mean_error=mean, **constants),
    )


def _certificates(instance: Instance, delta: float) -> Iterator[Test]:
    truth, data = instance.truth, instance.data
    assume = Assumptions(
        rewards="known",
        sampling="fixed",
        reward_range=instance.reward_range,
        successors=instance.successors,
    )
    policy = policy_iteration(maximum_likelihood(data, gamma=truth.gamma)).policy
    true = start_value(truth, policy)
    for kind, models in (("finite class", instance.models), ("multinomial", None)):
        given = certificate(
            data, policy, delta=delta, gamma=truth.gamma, assume=assume, models=models
        )
        yield Test(
            statement=f"certificate, {kind}",
            actual=given.estimate - true,
            bound=given.estimate - given.lower,
        )


def _factor(instance: Instance, variant: Variant) -> float:
    gamma = instance.truth.gamma
    if variant.factor == "none":
        return 0.0
    span = {"sound": bounds.value_span, "paper": bounds.paper_span}[variant.factor]
    return bounds.coefficient(span=span(instance.reward_range, gamma), gamma=gamma)


def _distance(model: TabularMDP, truth: TabularMDP) -> np.ndarray:
    """TV in every pair, [states, actions]."""
    apart = np.abs(dense(model.transition) - dense(truth.transition))
    return 0.5 * apart.sum(axis=1).reshape(truth.reward.shape)


def _all_pairs(statement: str, actual: np.ndarray, bound: np.ndarray) -> Test:
    ratio = float((actual / np.maximum(bound, 1e-300)).max())
    return Test(statement=statement, actual=ratio, bound=1.0)


def _summary(statement: str, family: str, tests: list[Test]) -> StatementResult:
    tightness = [test.tightness for test in tests]
    return StatementResult(
        statement=statement,
        family=family,
        instances=len(tests),
        violations=int(sum(test.violated for test in tests)),
        median_tightness=float(np.median(tightness)),
        highest_tightness=float(np.max(tightness)),
    )
