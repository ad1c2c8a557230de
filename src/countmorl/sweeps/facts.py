"""What a plan must know of its data before anything starts: sizes, and whether a method fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from countmorl.data.names import D4RL
from countmorl.data.sources import load
from countmorl.errors import ConfigError, CountMorlError
from countmorl.runs.options import DataOptions
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.rows import Row
from countmorl.training.train import check_actions

Sources = Mapping[tuple[str, DataOptions], "DataFacts"]


@dataclass(frozen=True, kw_only=True)
class DataFacts:
    """Sizes of a dataset."""

    rows: int
    obs_dim: int
    action_dim: int
    discrete: bool = False
    learns_ends: bool = False
    """Whether a rule for ends has to be learned."""
    env_id: str | None = None
    """Where policies are judged by play, if they can be here."""
    horizon: int = 1000
    """Steps of an episode that is played, at the most."""

    @property
    def row_bytes(self) -> int:
        """Bytes of one step: observation, action, reward, next observation, flags."""
        return 4 * (2 * self.obs_dim + self.action_dim + 1) + 3


def facts_of(source: str, options: DataOptions, *, fetch: bool) -> DataFacts:
    """Look at a dataset; one of D4RL's that is not here yet is known by its table, or fetched."""
    known = D4RL.get(source)
    if known and not fetch and not known.path.exists():
        rows = min(known.rows, options.rows or known.rows)
        obs, action = known.task.dims or (1, 1)
        env = known.task.env_id if known.task.available() else None
        return DataFacts(rows=rows, obs_dim=obs, action_dim=action, env_id=env)
    dataset = load(source, options=options)
    task = dataset.task
    return DataFacts(
        rows=len(dataset),
        obs_dim=dataset.obs_dim,
        action_dim=dataset.action_dim,
        discrete=dataset.discrete,
        learns_ends=bool(dataset.terminated.any()) and not (task and task.termination),
        env_id=task.env_id if task and task.available() else None,
        horizon=(task.horizon if task else None) or 1000,
    )


def look_at(plan: Sweep, *, fetch: bool) -> dict[tuple[str, DataOptions], DataFacts]:
    """Look at every dataset of a plan, and whether its methods can learn from it.

    What is wrong with any of them is said before hours are spent on the others.
    """
    found, wrong = {}, []
    for source, options in plan.sources:
        try:
            found[source, options] = facts_of(source, options, fetch=fetch)
        except CountMorlError as error:
            wrong.append(str(error))
    if wrong:
        more = f" ({len(wrong) - 1} more of the plan's data have problems)" if wrong[1:] else ""
        raise ConfigError(f"{wrong[0]}{more}")
    for row in plan.rows:
        _check_fits(row, found[row.data, row.data_options])
    return found


def _check_fits(row: Row, facts: DataFacts) -> None:
    check_actions(row.algorithm, row.config, row.data_name, facts.discrete, facts.action_dim)
