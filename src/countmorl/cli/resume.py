"""`countmorl resume RUN`: go on, or train on."""

from __future__ import annotations

from countmorl import api
from countmorl.cli.output import RunFolder, finish
from countmorl.loggers import LoggerName


def resume(
    run: RunFolder,
    epochs: int | None = None,
    data: str | None = None,
    method: str | None = None,
    termination: str | None = None,
    reward_function: str | None = None,
    task: str | None = None,
    log: tuple[LoggerName, ...] = (),
    inexact: bool = False,
    json: bool = False,
) -> int:
    """Go on with a stopped run; the result is the same, bit for bit, as if it never stopped.

    A finished run is trained on where --epochs asks for more than it has.

    Args:
        run: The run's folder.
        epochs: Train on until this epoch, beyond what was asked for at first.
        data: The dataset, where it has moved; its contents must be the same.
        method: The run's own method again, where that is your code (module:Class).
        termination: The run's own termination rule again, where that is your code
            (module:function).
        reward_function: The run's own reward function again (module:function).
        task: The run's own environment again, where that is your code (module:Env-v0).
        log: The run's own loggers again, where they send metrics over the network.
        inexact: Go on where other cores, instructions, packages or settings give other numbers.
        json: Print a JSON summary at the end.
    """
    return finish(
        lambda: api.resume(
            run,
            epochs=epochs,
            data=data,
            method=method,
            termination=termination,
            reward_function=reward_function,
            task=task,
            log=log,
            inexact=inexact,
        ),
        json,
    )
