"""`countmorl train model`, `codes` and `tabular`: what is trained by commands of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import tyro

from countmorl import api
from countmorl.algorithms.model_alone import CodesAlone, ModelAlone
from countmorl.cli.output import Data, finish, print_json, print_pairs
from countmorl.counting.base import CodesConfig
from countmorl.data.sources import load, locate
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.runs.folder import Run
from countmorl.runs.options import DataOptions, Done, RunOptions
from countmorl.tabular.certificate import Assumptions
from countmorl.tabular.train import Tabular, train_tabular

Flat = tyro.conf.arg(name="")


def model(
    data: Data,
    *,
    model: EnsembleConfig = EnsembleConfig(),  # noqa: B008
    data_options: Annotated[DataOptions, Flat],
    termination: str | None = None,
    seed: int = 0,
    save_every: int = 5,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """The dynamics ensemble alone, for other runs to share.

    They take it, and the rule that ends its rollouts, by --model RUN.

    Args:
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
        termination: When a rollout ends: hopper, walker2d, never, or your own module:function.
            Default: the task's rule where it is known, else one learned from the data.
        seed: Seed of the hold-out rows, the bootstraps and the networks.
        save_every: Epochs between checkpoints: what a kill can lose at most.
        out: Folder of the run; by default runs/model-DATA-seedN.
        json: Print a JSON summary at the end; progress goes to standard error.
    """
    options = RunOptions(seed=seed, save_every=save_every, eval_every=0)
    config = ModelAlone(model=model, termination=termination)
    return finish(
        lambda: api.train(config, data, out=out, data_options=data_options, options=options), json
    )


def codes(
    data: Data,
    *,
    model: Path,
    codes: CodesConfig = CodesConfig(),  # noqa: B008
    data_options: Annotated[DataOptions, Flat],
    save_every: int = 5,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """The codes that Count-MORL counts by, for its runs to share.

    They take them, with their model, by --model RUN.

    Args:
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
        model: The run whose model's features are coded; its seed is taken too.
        save_every: Epochs between checkpoints: what a kill can lose at most.
        out: Folder of the run; by default runs/codes-DATA-seedN.
        json: Print a JSON summary at the end; progress goes to standard error.
    """
    seed = Run.open(model).manifest.model_seed or 0
    options = RunOptions(seed=seed, save_every=save_every, eval_every=0)
    config = CodesAlone(codes=codes)
    return finish(
        lambda: api.train(
            config, data, out=out, data_options=data_options, options=options, model=model
        ),
        json,
    )


def tabular(
    data: Data,
    config: Annotated[Tabular, Flat],
    assume: Annotated[Assumptions, Flat],
    done: Done | None = None,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Count-MORL on a log of whole numbers: exact plan, certificate.

    Args:
        data: A path to an HDF5 or NPZ file with one column of states and one of actions.
        done: What `done` means where the log does not tell: terminated, the task itself ended
            there; or ended, the episode ended there for whatever reason.
        out: Folder of the run; by default runs/tabular-DATA.
        json: Print a JSON summary.
    """
    options = DataOptions(done=done, holdout_episodes=0)  # Its certificate counts every row.
    run = train_tabular(
        load(data, options=options),
        config=config,
        assume=assume,
        out=out,
        source=locate(data),
        options=options,
    )
    (record,) = run.records()
    if json:
        (line,) = run.lines(run.metrics_path.name)
        print_json({"run": str(run.path), "policy": str(run.policy_path), **line})
        return 0
    print_pairs(
        {
            "pairs seen": f"{record.pairs_seen:,} of {record.pairs_live:,}",
            "value in the model": f"{record.value_model:.4f} (an estimate, not a bound)",
            "value penalised": f"{record.value_penalized:.4f}",
            "behaviour in the model": f"{record.value_behaviour:.4f}",
            "true value": f"at least {record.certified:.4f} with {record.confidence:.0%} certainty",
            "behaviour's true value": f"at least {record.certified_behaviour:.4f}",
            "run": run.path,
        }
    )
    if (record.certified or 0) <= (record.least_value or 0) + 1e-9:
        print(
            "This certificate says nothing: no value can be lower. More data helps, and so does "
            "what you know: --successors, --value-range, --rewards, --sampling."
        )
    return 0


OTHERS: dict[str, Callable[..., int]] = {"model": model, "codes": codes, "tabular": tabular}
"""What is trained by commands of their own."""
