"""`countmorl study alarms DATA`: how often is a monitor wrong, and what does it notice?"""

from __future__ import annotations

from dataclasses import asdict

from countmorl.cli.output import Data, print_json, print_table
from countmorl.errors import ConfigError


def alarms(
    data: Data,
    sizes: tuple[int, ...] = (1, 5, 20),
    splits: int = 5,
    logs: int = 200,
    drifts: tuple[str, ...] = (),
    seed: int = 0,
    json: bool = False,
) -> int:
    """Measure how often `countmorl monitor` is right and wrong.

    The log is cut in two by chance, episode by episode. One half is the training's; of the other
    one logs of a few episodes are drawn, as they are and with six kinds of drift. The counts of
    pairs are left out, since no training is done.

    Args:
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
        sizes: Episodes of the logs that are drawn.
        splits: How often the log is cut.
        logs: Logs of each size that are drawn each time. Those of one cut share its training, so
            that many cuts say more of false alarms than many logs.
        drifts: The kinds of drift, such as none for false alarms alone; by default all.
        seed: Seed of all that is drawn.
        json: Print JSON.
    """
    from countmorl.data.sources import load
    from countmorl.studies.alarms import DRIFTS, alarm_rates

    unknown = [each for each in drifts if each not in DRIFTS]
    if unknown:
        raise ConfigError(f"There is no drift '{unknown[0]}'. Known: {', '.join(DRIFTS)}.")
    how = {"sizes": sizes, "splits": splits, "logs": logs, "drifts": drifts or tuple(DRIFTS)}
    found = alarm_rates(load(data), seed=seed, **how)
    if json:
        print_json([asdict(each) for each in found])
        return 0
    asked = sorted({each.false_alarms for each in found})
    rates = {(each.drift, each.episodes, each.false_alarms): each.alarms for each in found}
    print_table(
        ("drift", "episodes", *(f"alarms, {level:.0%} asked" for level in asked)),
        (
            (drift, str(size), *(f"{rates[drift, size, level]:.1%}" for level in asked))
            for drift, size in dict.fromkeys((each.drift, each.episodes) for each in found)
        ),
    )
    return 0
