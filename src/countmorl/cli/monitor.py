"""`countmorl monitor RUN LOG`: has the world changed since the training?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_pairs, print_table
from countmorl.errors import printable
from countmorl.monitoring.monitor import FALSE_ALARMS, Report
from countmorl.monitoring.monitor import monitor as compare
from countmorl.monitoring.opened import opened

ALARM = 4
"""Exit code where a log is unlike the training's."""
SHOWN = 12


def monitor(
    where: Annotated[Positional[Path], tyro.conf.arg(metavar="RUN")],
    log: Annotated[Positional[str], tyro.conf.arg(metavar="LOG")],
    data: str | None = None,
    false_alarms: float = FALSE_ALARMS,
    missing: tuple[str, ...] = (),
    json: bool = False,
) -> int:
    """Compare today's log with the training; an alarm ends with exit code 4.

    Columns that moved, values and words never seen, pairs that were logged rarely or never, what
    follows on a step, and rewards. The log is read part by part and may be larger than memory.
    What has to be exceeded comes from episodes of the training that are drawn again and again, so
    that a log of the same kind raises an alarm as seldom as was asked for.

    Args:
        where: The folder of a run, or of a bundle.
        log: Today's log: a table of the training's columns, or arrays (.hdf5, .npz).
        data: Where the training's log lies now, if it has moved and no baseline was made yet.
        false_alarms: How often a log of the same kind may raise an alarm, from 0.001 to 0.5.
        missing: What becomes of missing values of a table, such as outcome=0, where the training's
            log was imported with such a rule for rewards or flags.
        json: Print JSON.
    """
    baseline, count = opened(where, data=data)
    found = compare(baseline, log, count=count, false_alarms=false_alarms, missing=missing)
    if json:
        print_json(found.as_dict())
    else:
        show(found)
    return ALARM if found.alarms else 0


def show(found: Report) -> None:
    """Print what moved farthest, then what follows from it."""
    print_table(
        ("column", "part", "at or below", "training", "today", "moved", "stability index", ""),
        (
            (
                each.name,
                each.part,
                f"{each.at:.4g}",
                f"{each.before:.1%}",
                f"{each.now:.1%}",
                f"{each.moved:.1f}",
                f"{each.psi:.3f}",
                "ALARM" if each.alarm else "",
            )
            for each in found.columns[:SHOWN]
        ),
    )
    if len(found.columns) > SHOWN:
        more = len(found.columns) - SHOWN
        print(f"... and {more} column{'s' if more > 1 else ''} that moved less.")
    pairs = {"reward of a step": f"{found.reward:.4g}; in training {found.reward_before:.4g}"}
    if found.unseen is not None:
        usual = f"{found.unseen_before:.1%} are usual"
        pairs["pairs never logged"] = f"{found.unseen:.1%}; {usual}"
    pairs["alarm beyond"] = (
        f"{found.limit:.1f} deviations, so that at most {found.false_alarms:.1%} of such logs of "
        "the same kind raise one"
    )
    print_pairs(pairs)
    for note in found.notes:
        print(printable(f"note: {note}."))
    for alarm in found.alarms:
        print(printable(f"- {alarm.sentence[0].upper()}{alarm.sentence[1:]}"))
    print(printable(found.sentence))
