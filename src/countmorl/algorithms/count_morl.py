"""Count-MORL (Kim and Oh, ICML 2023): trust the model less where the data are few.

r~(s, a) = r(s, a) - beta min(1, 1 / sqrt(n(s, a))), where n counts the pairs of the data that
share a learned binary code with (s, a); SAC on rollouts of the model with that reward.

Differences from the paper: the penalty never exceeds beta (Algorithm 1 as printed punishes
0 < n < 1 more than n = 0); beta and the code length are not tuned but chosen from the data. By
default codes are verified by their decoders, the members' penalties are joined in place of their
counts, a rollout ends where most elites do not know the pair; half of a batch are real rows, at
which the policy is drawn to the logged actions, those of better episodes above all; targets follow
faster. Each of these has a setting,
and `--preset paper` has none of them; lab/verified.md has the runs behind them.
Differences from the authors' code: counts are exact, not a six-prime sketch, and member counts are
not raised to 1; the deviation divides by N - 1; counting runs over the elites that are rolled out;
the encoder is fitted after the model, on standardised features, and reconstructs standardised
pairs and, by default, predicted steps, in codes of all lengths at once; the policy's defaults are
steadier (see `SACConfig`), `--preset paper` has the paper's.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from countmorl import trees
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.base import Published
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased
from countmorl.configs import at_least
from countmorl.counting import find_counter
from countmorl.counting.base import CodesConfig
from countmorl.counting.estimate import SIGNS, Join, Kind
from countmorl.data.rates import worst_rate
from countmorl.dynamics.ensemble import Ensemble
from countmorl.errors import ConfigError
from countmorl.pessimism import DEAREST, CountPenalty, elites_spread

REWARDS = 0.4
"""What an unseen pair costs, in mean rewards. The paper's tuned betas come to that: 1 on Hopper's
and Walker2d's replays. lab/choices.md has a whole mean reward."""
ENDLESS = 1.0
"""The same where no logged step is terminal: the model knows of no end that a policy could run
into, and the penalty alone keeps it with the data."""

WIDEST = 0.99
"""Share of the logged pairs on which the elites agree better than on those that cost beta."""
SAMPLE = 20_000
"""Logged pairs that are asked for it."""


@dataclass(frozen=True, kw_only=True)
class CountMORL(AbstractModelBased):
    """Count-MORL: SAC in a learned model, rewards lowered where the data are few."""

    paper: ClassVar[str] = "Kim and Oh, ICML 2023"
    first: ClassVar[tuple[str, ...]] = ("beta", "estimate", "codes.bits", *AbstractModelBased.first)
    # H, d, the estimate that scored best, and beta for LC, AVG and UC.
    published: ClassVar[Published] = Published(
        source="the paper's appendix; its best estimate, or the one you give",
        fields=("horizon", "codes.bits", "estimate", "betas"),
        random=((5, 50, "LC", (1, 0.5, 1)), (20, 80, "LC", (1, 1, 3)), (20, 64, "LC", (1, 1, 1))),
        medium=((5, 32, "AVG", (1, 1, 3)), (20, 50, "UC", (1, 1, 1)), (20, 32, "AVG", (3, 3, 3))),
        medium_replay=(
            (5, 32, "UC", (1, 3, 3)),
            (5, 50, "UC", (3, 3, 1)),
            (5, 32, "UC", (1, 3, 1)),
        ),
        medium_expert=(
            (5, 32, "UC", (3, 1, 3)),
            (20, 50, "UC", (3, 3, 3)),
            (20, 50, "UC", (3, 3, 3)),
        ),
        always={
            "epochs": 1000,
            "sac.actor_rate": 3e-4,
            "sac.entropy_rate": 3e-4,
            "sac.target_entropy": -3.0,
            "sac.log_std_min": -20.0,
            "sac.actor_decay": False,
            "sac.polyak": 0.005,
            "codes.verified": None,
            "codes.follow": "pairs",
            "join": "counts",
            "unseen": "pay",
            "real_share": 0.05,
            "imitate": 0.0,
            "favour": 0.0,
        },
    )

    real_share: float = 0.5
    """Share of real rows in a batch (the paper has 0.05)."""
    favour: float = 10.0
    """How much more often rows of better episodes are drawn, see the other methods: e^favour times
    as often from the best as from the worst. Where a log mixes behaviours, their mixture is not
    what a policy should be drawn to. The paper has none: 0."""
    imitate: float | Literal["auto"] = "auto"
    """Weight of a pull of the policy towards the data's actions, at the real rows of a batch, see
    the other methods. auto: by how much of the logged actions their observations tell, so that
    one steady behaviour is held on to, and chance is not. The paper has none: 0."""
    sac: SACConfig = field(default_factory=lambda: SACConfig(polyak=0.02))
    """The policy's learner. Its targets follow faster than the papers' 0.005: values take about
    1 / (polyak (1 - discount)) updates to grow."""

    beta: float | Literal["auto"] = "auto"
    """What a pair that was never seen costs (beta). auto: two fifths of the mean size of a logged
    reward, or all of it where no logged step is terminal; the unit of rewards does not matter."""
    estimate: Kind = "AVG"
    """Which count to trust: the members' mean (AVG), or `alpha` deviations below (LC) or above
    (UC) it."""
    alpha: float = 0.5
    """Deviations between the mean count and LC or UC (alpha)."""
    join: Join = "penalties"
    """What of the members is joined by the estimate: their counts, as in the paper, or their
    penalties. A mean of counts hides members that never saw a pair."""
    unseen: Literal["pay", "end"] = "end"
    """What becomes of a rollout that is far from all data. pay: it goes on and pays beta, as in the
    paper. end: it ends there, worth no more than the worst that the log knows: the rewards of its
    worst episode for ever, or 0 where that is less. With `codes.verified`, far is where most
    decoders err more than on nearly all that a clone of the data imagines, so that its own
    rollouts end more seldom than the discount forgets; otherwise where most elites never saw the
    pair."""
    price: Literal["counts", "spread"] = "counts"
    """What a pair costs. counts: beta / sqrt(n), as in the paper. spread: what the elites'
    predictions differ by, beta where that is as much as on the logged pairs they differ on most
    and more beyond; an unseen pair costs beta at the least. It wants two elites or more. In audits
    the spread orders a model's errors better than counts do (lab/codes.md); policies trained with
    either were alike (lab/verified.md)."""
    counter: str = "codes"
    """How pairs are counted: codes (learned, the paper's), simhash (random projections, nothing
    learned; Tang et al., 2017), exact (pairs that repeat), or another of
    `countmorl.counting.COUNTERS`."""
    codes: CodesConfig = field(default_factory=CodesConfig)
    """The codes that pairs are counted by."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, alpha=0)
        find_counter(self.counter)
        if self.price == "spread" and self.model.elites < 2:
            raise ConfigError(
                "`price` cannot be spread with a single elite, which agrees with itself "
                "everywhere. Give --model.elites 2 or more, or --price counts."
            )
        if self.beta != "auto":
            at_least(self, beta=0)

    @classmethod
    def published_rows(cls, chosen: "CountMORL | None" = None) -> dict[str, dict[str, Any]]:
        """The paper's settings of each task; its beta goes with the estimate."""
        rows = cls.published.rows
        for row in rows.values():
            betas = dict(zip(SIGNS, row.pop("betas"), strict=True))
            row["estimate"] = chosen.estimate if chosen else row["estimate"]
            row["beta"] = float(betas[row["estimate"]])
        return rows

    def pessimism(self, build: AbstractBuild) -> CountPenalty:
        """Count the pairs of the data, penalise by the count."""
        counter = build.counter(self.counter, self.codes)
        end = self.worst_value(build) if self.unseen == "end" else None
        spread = widest_spread(build) if self.price == "spread" else None
        how = (self.unseen_cost(build), self.estimate, self.alpha, self.join, end, spread)
        penalty = CountPenalty(counter, *how)
        build.keep_counter(self.counter, penalty)
        return penalty

    def step_cost(self, unit: float) -> float:
        """No pair costs more than beta, or than a few betas where it is priced by the spread."""
        beta = 3 * unit if self.beta == "auto" else self.beta
        return DEAREST * beta if self.price == "spread" else beta

    def worst_value(self, build: AbstractBuild) -> float:
        """What the worst future that the log knows is worth, never more than an end."""
        return min(0.0, worst_rate(build.dataset)) / (1 - self.sac.discount)

    def unseen_cost(self, build: AbstractBuild) -> float:
        """Return beta, as given or from the data."""
        if self.beta != "auto":
            return self.beta
        share = REWARDS if build.dataset.terminated.any() else ENDLESS
        return share * float(np.abs(build.dataset.reward).mean(dtype=np.float64))


def widest_spread(build: AbstractBuild) -> float:
    """What the elites' predictions differ by on the logged pairs they differ on most."""
    some = build.pairs[:: -(-len(build.pairs) // SAMPLE)]
    return float(jnp.quantile(_spreads(build.ensemble, some), WIDEST))


@eqx.filter_jit
def _spreads(ensemble: Ensemble, x: Float[Array, "rows inputs"]) -> Float[Array, " rows"]:
    return trees.in_blocks(lambda rows, _: elites_spread(ensemble, ensemble.trunks(rows)), x)
