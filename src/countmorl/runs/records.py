"""The lines of metrics.jsonl and timing.jsonl, with the name and meaning of every metric.

docs/metrics.md is made from this table: `python -m countmorl.runs.records`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal

from countmorl.errors import RunError

Numbers = list[float]
Measure = Literal["score", "return", "value"]
MOST = 1e150
"""The largest number that can be squared and added up."""


def _metric(stage: str, about: str) -> Any:
    return field(default=None, metadata={"stage": stage, "about": about})


MODEL, ENDS, CODES = "model", "termination", "codes-ordered, codes-BITS"
POLICY, ROLLOUT, JUDGED, PLAN = "policy", "policy, rollouts", "policy, evaluations", "plan"
ADVERSARY = "policy of RAMBO"


@dataclass(frozen=True, kw_only=True)
class Record:
    """One epoch of one stage. A metric that the stage does not have is None."""

    stage: str
    epoch: int

    loss: float | None = _metric(
        "model, termination, codes-ordered, codes-BITS, clone; policy of BC",
        "What is minimised, mean over the epoch's updates.",
    )
    holdout_error: Numbers | None = _metric(
        MODEL,
        "Mean squared error on held-out rows, per member; 1 is no better than the targets' means.",
    )
    holdout: float | None = _metric(
        MODEL, "Mean over the elites so far of their best `holdout_error`."
    )
    missed_ends: float | None = _metric(
        ENDS, "Share of held-out ends that are called less likely than not."
    )
    false_alarms: float | None = _metric(
        ENDS, "Share of other held-out steps that are called more likely an end than not."
    )
    brier: float | None = _metric(
        ENDS, "Mean squared difference between the predicted chance of an end and what happened."
    )
    calibration_error: float | None = _metric(
        ENDS, "Mean gap between predicted and actual chance, over ten bins."
    )
    reconstruction: Numbers | None = _metric(
        CODES, "Mean squared error of each elite's autoencoder on standardised pairs."
    )
    codes: list[int] | None = _metric(CODES, "Codes in use, per elite; in the last epoch.")
    samples_per_code: Numbers | None = _metric(
        CODES, "Rows that share a code on average, per elite; in the last epoch."
    )
    bit_entropy: Numbers | None = _metric(
        CODES, "Mean entropy of a bit, per elite (1 is best); in the last epoch."
    )
    typical_count: float | None = _metric(
        CODES, "Median over held-out rows of the elites' mean count; in the last epoch."
    )

    critic_loss: float | None = _metric(
        POLICY, "Squared error of the critics against their targets, summed over the critics."
    )
    actor_loss: float | None = _metric(POLICY, "What SAC's actor minimises.")
    imitation: float | None = _metric(
        POLICY, "Mean distance of the policy from the data's actions, where `imitate` is above 0."
    )
    q: float | None = _metric(POLICY, "Mean value that the critics give to the batch's pairs.")
    entropy: float | None = _metric(POLICY, "Entropy of the policy, estimated on the batch.")
    entropy_weight: float | None = _metric(
        POLICY, "SAC's learned weight of the entropy (its paper's alpha)."
    )
    conservative_gap: float | None = _metric(
        "policy of CQL and COMBO",
        "Soft maximum of the values over actions minus the values on the data, times its weight.",
    )
    multiplier: float | None = _metric(
        "policy of CQL and COMBO", "The learned multiplier, where a threshold is given."
    )
    model_loss: float | None = _metric(
        ADVERSARY, "Loss of the elites on the data while the model is turned against the policy."
    )
    adversary: float | None = _metric(
        ADVERSARY, "Advantage-weighted log-likelihood of imagined steps, which the model lowers."
    )

    rollout_continued: float | None = _metric(
        ROLLOUT, "Share of the epoch's rollouts that went on from where the last epoch's ended."
    )
    rollout_alive: Numbers | None = _metric(
        ROLLOUT, "Share of the rollouts that are still going, by step."
    )
    rollout_terminated: Numbers | None = _metric(
        ROLLOUT, "Share of the live steps that end their rollout, by step."
    )
    rollout_penalty: Numbers | None = _metric(
        ROLLOUT, "Mean penalty taken from the reward, by step."
    )
    rollout_count: Numbers | None = _metric(
        ROLLOUT, "Mean estimated count of the imagined pairs, by step."
    )
    rollout_count_median: Numbers | None = _metric(
        ROLLOUT, "Median estimated count of the imagined pairs, by step."
    )
    rollout_unseen: Numbers | None = _metric(
        ROLLOUT, "Share of imagined pairs that no elite has seen, by step."
    )
    rollout_uncertainty: Numbers | None = _metric(
        ROLLOUT, "Mean uncertainty of the model (MOPO, MOReL, RepB-SDE), by step."
    )
    rollout_unknown: Numbers | None = _metric(
        ROLLOUT, "Share of pairs that end a rollout as unknown, by step."
    )

    return_: float | None = _metric(JUDGED, "Mean undiscounted return of the episodes played.")
    return_std: float | None = _metric(JUDGED, "Standard deviation of those returns.")
    score: float | None = _metric(
        JUDGED, "Normalised score, 100 (R - random) / (expert - random), where both are known."
    )
    score_std: float | None = _metric(JUDGED, "Standard deviation of the returns in points.")
    length: float | None = _metric(JUDGED, "Mean number of steps of the episodes played.")
    value: float | None = _metric(
        JUDGED,
        "What an evaluator of one's own says the policy is worth, in its own unit; with `--stop "
        "offline` the gain on the log that is left at the least.",
    )
    judged_unseen: float | None = _metric(
        JUDGED,
        "With `--stop offline`: share of the policy's actions at logged states that nobody tried "
        "near there.",
    )

    rows: int | None = _metric(PLAN, "Rows of the log.")
    states: int | None = _metric(PLAN, "States of the finite world.")
    actions: int | None = _metric(PLAN, "Actions of the finite world.")
    pairs_seen: int | None = _metric(PLAN, "Pairs of states that do not end, seen in the log.")
    pairs_live: int | None = _metric(PLAN, "Pairs of states that do not end.")
    value_model: float | None = _metric(
        PLAN, "The plan's value in the estimated model: an estimate, not a bound."
    )
    value_penalized: float | None = _metric(PLAN, "The plan's value with the penalty taken.")
    value_behaviour: float | None = _metric(PLAN, "The behaviour's value in the estimated model.")
    certified: float | None = _metric(
        PLAN, "What the plan's true value is at least, with probability `confidence`."
    )
    certified_behaviour: float | None = _metric(PLAN, "The same for the behaviour.")
    confidence: float | None = _metric(PLAN, "Probability with which the two bounds hold.")
    least_value: float | None = _metric(
        PLAN, "The value that no policy can be below: a bound no higher says nothing."
    )
    mean_error: float | None = _metric(
        PLAN, "How thin the data are where the plan goes: mean bound on the model's error."
    )

    others: Mapping[str, Any] = field(default_factory=dict)
    """Metrics of a method of one's own, also such as have a name of ours and another form."""

    @classmethod
    def of(cls, line: Any, where: str) -> Record:
        """Make a record of one line's JSON; what is none is a `RunError`."""
        stage, epoch, values = _split(line, where)
        ours = {name for name, value in values.items() if _is_ours(name, value)}
        known = {METRICS[name].name: values[name] for name in ours}
        others = {name: value for name, value in values.items() if name not in ours}
        return cls(stage=stage, epoch=epoch, others=others, **known)

    @property
    def judged(self) -> bool:
        """Whether the policy was judged in this epoch."""
        return self.measure is not None

    @property
    def measure(self) -> Measure | None:
        """What the policy was judged by: the best comparable of the numbers that there are."""
        if self.score is not None:
            return "score"
        if self.return_ is not None:
            return "return"
        return "value" if self.value is not None else None

    @property
    def judgement(self) -> tuple[float, float]:
        """That number, and its spread over episodes where there is one."""
        both = {
            "score": (self.score, self.score_std),
            "return": (self.return_, self.return_std),
            "value": (self.value, None),
        }
        number, spread = both[self.measure or "value"]
        return number or 0.0, spread or 0.0


METRICS: dict[str, Field] = {
    each.name.removesuffix("_"): each for each in fields(Record) if "about" in each.metadata
}
"""Every metric by its name in metrics.jsonl."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How long one epoch took: never the same twice, so it lies apart from the metrics."""

    stage: str
    epoch: int
    seconds: float
    compile_seconds: float = 0.0
    """Seconds of it, and of what came before it, that XLA spent compiling."""
    updates_per_second: float | None = None
    """Gradient steps per second, compiling left out."""
    peak_memory: float | None = None
    """The most memory that the process has held so far, in bytes, where the system tells."""

    @classmethod
    def of(cls, line: Any, where: str) -> Timing:
        """Make a timing of one line's JSON; what is none is a `RunError`."""
        stage, epoch, values = _split(line, where)
        names = {each.name for each in fields(cls)}
        if "seconds" not in values or not names.issuperset(values):
            raise RunError(f"{where} is not a timing: it has {', '.join(values) or 'nothing'}.")
        if not all(_is_number(each) and each >= 0 for each in values.values()):
            raise RunError(f"{where} is not a timing: its numbers must be at least 0.")
        return cls(stage=stage, epoch=epoch, **values)


def _split(line: Any, where: str) -> tuple[str, int, dict[str, Any]]:
    """Stage, epoch and the rest, which must be numbers or lists of numbers."""
    if not isinstance(line, dict):
        raise RunError(f"{where} is not a record of an epoch.")
    stage, epoch = line.get("stage"), line.get("epoch")
    if not isinstance(stage, str) or type(epoch) is not int:
        raise RunError(f"{where} does not say which stage and epoch it is of.")
    values = {name: value for name, value in line.items() if name not in ("stage", "epoch")}
    for name, value in values.items():
        if not _are_numbers(value):
            raise RunError(f"{where}: `{name}` is {str(value)[:40]!r}, wanted numbers.")
    return stage, epoch, values


def _is_ours(name: str, value: Any) -> bool:
    """Whether a metric is in the table, as a number or a list of them as the table has it."""
    if name not in METRICS:
        return False
    if str(METRICS[name].type).startswith(("Numbers", "list")):
        return isinstance(value, list) and all(map(_is_number, value))
    return _is_number(value)


def _are_numbers(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_are_numbers, value))
    return _is_number(value)


def _is_number(value: Any) -> bool:
    """NaN is one, as a judge of one's own may have said so; what overflows in a mean is none."""
    return type(value) in (int, float) and not abs(value) > MOST


def table() -> str:
    """Every metric as a table in Markdown."""
    rows = [
        f"| `{n}` | {m.metadata['stage']} | {m.metadata['about']} |" for n, m in METRICS.items()
    ]
    return "\n".join(["| metric | stage | meaning |", "|---|---|---|", *rows])


if __name__ == "__main__":
    print(table())
