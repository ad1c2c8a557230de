"""A tiny training with every stage that a real one has, and what judges it: for a failing disk."""

from pathlib import Path

from countmorl import resume, train
from countmorl.algorithms import count_morl
from countmorl.counting.fit import CodesFit
from countmorl.dynamics.fit import EnsembleFit
from countmorl.dynamics.termination_fit import TerminationFit
from countmorl.evaluation.base import Estimate
from countmorl.evaluation.bench import Bench, BenchConfig
from countmorl.evaluation.fqe import FQEConfig
from countmorl.evaluation.judging import judge
from countmorl.runs.options import RunOptions
from countmorl.runtime.base import PolicyLike, Sized
from countmorl.training import build
from countmorl.training.policy_fit import CloneFit, PolicyFit
from robustness.remembering import remembering
from small_runs import small, vector_log

OPTIONS = RunOptions(save_every=2, eval_every=1, keep_policies=2)
CONFIG = small("count-morl", termination=None)
BENCH = BenchConfig(clone_updates=5, fqe=FQEConfig(updates=4, hidden=(8,), least=2, most=2))
FITS = (EnsembleFit, TerminationFit, CodesFit, CloneFit, PolicyFit)
PURE = (
    *((fit, "epoch") for fit in FITS),
    (TerminationFit, "judge"),
    (CodesFit, "counted"),
    (count_morl, "elites_spread"),
    (build, "calibrate"),
    (build, "held_out"),
    (Bench, "of"),
    (Bench, "judge"),
)
"""What takes time and touches no file, but for the critics that a judge reads."""


class Mean:
    """Judges a policy by what it does at first: no simulator has to be there."""

    def check(self, policy: Sized, name: str) -> None:
        """Any policy will do."""

    def __call__(self, policy: PolicyLike, *, seed: int) -> Estimate:
        """Its mean action in the log."""
        value = float(policy.act(vector_log()["obs"]).mean())
        return Estimate(value=value, unit="action", made_by="its mean action")


def train_only(folder: Path) -> None:
    """Train, with every stage."""
    with remembering(*PURE):
        train(CONFIG, vector_log(), out=folder, options=OPTIONS, evaluator=Mean(), quiet=True)


def resume_only(folder: Path) -> None:
    """Go on with a training; where nothing is left of it, begin anew."""
    if not (folder / "config.json").exists():
        train_only(folder)
        return
    with remembering(*PURE):
        resume(folder, data=vector_log(), evaluator=Mean(), quiet=True)


def begin(folder: Path) -> None:
    """Train, and judge what came of it."""
    train_only(folder)
    _judge(folder)


def go_on(folder: Path) -> None:
    """Go on with both."""
    resume_only(folder)
    _judge(folder)


def _judge(folder: Path) -> None:
    with remembering(*PURE):
        judge(folder, vector_log(), config=BENCH)
