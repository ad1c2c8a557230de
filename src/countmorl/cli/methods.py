"""`countmorl methods`: what can be trained."""

from __future__ import annotations

from typing import Any

from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.algorithms.presets import presets_of
from countmorl.cli.output import print_json, print_table
from countmorl.cli.train import idea


def methods(json: bool = False) -> int:
    """List the methods: what each does and whose it is.

    The table tells too whether it learns a model, and takes discrete actions.

    Args:
        json: Print JSON.
    """
    rows = [{"name": name} | about(algorithm) for name, algorithm in ALGORITHMS.items()]
    if json:
        print_json(rows)
        return 0
    columns = ("name", "idea", "paper", "model", "discrete")
    print_table(columns, ([_said(row[column]) for column in columns] for row in rows))
    print(
        "countmorl train NAME DATA trains one; countmorl train NAME --help explains its settings."
    )
    return 0


def _said(value: Any) -> str:
    return str(value) if not isinstance(value, bool) else "yes" if value else "no"


def about(algorithm: type[AbstractAlgorithm]) -> dict[str, Any]:
    """Describe one method."""
    return {
        "idea": idea(algorithm),
        "paper": algorithm.paper,
        "model": issubclass(algorithm, AbstractModelBased),
        "discrete": algorithm.takes_discrete,
        "presets": presets_of(algorithm),
    }
