"""`countmorl algorithms`: what can be trained."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.cli.output import print_json, print_table
from countmorl.cli.train import presets_of


def algorithms(json: bool = False) -> int:
    """List the algorithms: what each does, whose it is, whether it learns a model and takes
    discrete actions, how long its file is.

    Args:
        json: Print JSON.
    """
    rows = [{"name": name} | about(algorithm) for name, algorithm in ALGORITHMS.items()]
    if json:
        print_json(rows)
        return 0
    columns = ("name", "idea", "paper", "model", "discrete", "lines")
    print_table(columns, ([_said(row[column]) for column in columns] for row in rows))
    print(
        "countmorl train NAME DATA trains one; countmorl train NAME --help explains its settings."
    )
    return 0


def _said(value: str | int) -> str:
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"


def about(algorithm: type[AbstractAlgorithm]) -> dict[str, str | int]:
    """Describe one algorithm."""
    return {
        "idea": (algorithm.__doc__ or "").splitlines()[0].split(": ", 1)[1],
        "paper": algorithm.paper,
        "model": issubclass(algorithm, AbstractModelBased),
        "discrete": algorithm.takes_discrete,
        "presets": presets_of(algorithm),
        "lines": len(inspect.getsource(inspect.getmodule(algorithm) or algorithm).splitlines()),
    }


COMMANDS: dict[str, Callable[..., int]] = {"algorithms": algorithms}
