"""Judged and played policies made up by hand, for what sums them up."""

from countmorl.envs.tasks import Task
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.verdict import Way, decide
from countmorl.studies.judging_records import Field, LogTruth, Tried
from countmorl.studies.truth import Truth

LOG = Estimate(value=10.0, interval=(9.0, 11.0), unit="return", made_by="log")


def said(numbers):
    """Value, low and high; the gain is over the log's 10."""
    if numbers is None:
        return Refusal(made_by="x", why="it would not say.")
    value, low, high = map(float, numbers)
    facts = {"gain": value - 10, "gain_low": low - 10, "gain_high": high - 10}
    return Estimate(value=value, interval=(low, high), unit="return", made_by="x", facts=facts)


def tried(name, truth, *, fitted, model, q=None, last=False, clone=False):
    """One policy."""
    opinions = {"fitted Q": said(fitted), "model": said(model)}
    return Tried(
        name=name,
        run=name,
        last=last,
        clone=clone,
        q=q,
        truth=Truth(value=float(truth), error=0.0),
        judgement=decide(name, LOG, opinions, Way(unseen=0.0, thin=0.0)),
    )


def field(*policies, name="log", development=False):
    """Policies of a log that earned 10 where chance earns 0, on a task without references."""
    log = LogTruth(
        unit="return",
        value=10.0,
        interval=(10.0, 10.0),
        total=10.0,
        chance=Truth(value=0.0, error=0.0),
    )
    task = Task(name="own", env_id="Own-v0")
    return Field(name=name, development=development, task=task, log=log, tried=policies)
