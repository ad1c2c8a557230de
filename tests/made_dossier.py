"""A run that was asked everything, with answers made up by hand, for what shows them."""

import json
from pathlib import Path
from typing import Any

from countmorl.reports.dossier import KEPT
from countmorl.runs.folder import Run
from made_runs import make_run

SPREAD = [0.0, 1.0, 1.5, 3.0]
LEVELS = {"unseen": 0.25, "thin": 0.25, "covered": 0.5}
SURE = {
    "value": 12.0,
    "interval": [11.0, 13.0],
    "unit": "u",
    "made_by": "m",
    "facts": {"gain": 2.0, "gain_low": 1.5, "gain_high": 2.5},
}
CARD = {
    "log": {
        "name": "clinic",
        "hash": "ab" * 32,
        "rows": 240,
        "episodes": 12,
        "lengths": SPREAD,
        "returns": SPREAD,
        "rewards": SPREAD,
        "terminated": 0,
        "obs": 1,
        "action": 1,
        "discrete": False,
        "held": "set aside: 1 of 12 episodes",
        "notes": ["dose: a quantity"],
        "findings": [{"level": "warning", "message": "Odd."}],
        "columns": [
            {
                "name": "<b>glucose</b>",
                "part": "observation",
                "unit": "mg/dL",
                "distinct": 200,
                "quantiles": [40.0, 60.0, 120.0, 300.0, 400.0],
            }
        ],
    },
    "watch": {
        "rows": 240,
        "episodes": 12,
        "blocks": False,
        "false_alarms": 0.01,
        "reward": -1.5,
        "reward_noticed": {"5": 2.0, "20": 1.0},
        "columns": [
            {
                "name": "glucose",
                "part": "seen",
                "low": 40.0,
                "high": 400.0,
                "at": 121.0,
                "share": 0.5,
                "noticed": {"5": 1.2, "20": 0.34},
            }
        ],
    },
}
JUDGEMENT = {
    "name": "runs/somewhere",
    "verdict": "better",
    "sentence": "better than the log, by at least 1.5.",
    "gain": [1.5, 2.5],
    "unseen": 0.02,
    "thin": 0.1,
    "behaviour": {"value": 10.0, "interval": None, "unit": "u", "made_by": "b", "facts": {}},
    "opinions": {
        "fitted Q": SURE,
        "model": {"refused": "it is lost.", "made_by": "m", "facts": {}},
    },
    "notes": ["critics see rows that taught the policy"],
}
COVERAGE = {
    "source": "runs/somewhere",
    "density": {
        "rows": 240,
        "counted_by": "codes",
        "places": 30,
        "rows_per_place": 8.0,
        "once": 0.125,
        "probed": 20,
        "held_out": True,
        "quantiles": {"5%": 1.0, "50%": 4.0},
        "shares": LEVELS,
    },
    "untried": [{"region": "glucose above 380 with dose above 2", "rows": 3, "expected": 41.4}],
    "situations": [],
    "ways": [
        {"name": "policy", "shares": LEVELS, "by_step": [LEVELS] * 3, "left": 0.75},
        {"name": "clone", "shares": LEVELS, "by_step": [LEVELS] * 2, "left": 0.1},
    ],
    "ways_by": "neighbours",
    "ways_out": [{"text": "dose above what was logged nearby", "share": 0.4, "step": 7}],
    "log_next": [
        {
            "text": "glucose above 300",
            "reached": 0.5,
            "value": 9.0,
            "usual": 4.0,
            "rows": 2,
            "share": 0.5,
            "examples": [{"row": 17, "columns": {"glucose": 310.0, "ward": "B"}}],
        }
    ],
    "valued_by": "the run's own critics",
    "notes": [],
}


def point(name: str, **more: Any) -> dict[str, Any]:
    """One threshold of a guard."""
    empty = dict.fromkeys(("quantile", "threshold", "held_out", "at_logged", "imagined"))
    return {"name": name, **empty, "value": None, "interval": None, "way_cut": None} | {
        "played": None,
        **more,
    }


CHOSEN = point(
    "guarded",
    quantile=0.1,
    threshold=2.0,
    held_out=0.09,
    at_logged=0.2,
    imagined=0.5,
    value=7.0,
    interval=[5.0, 9.0],
    way_cut=0.0,
)
GUARD = {
    "settings": {
        "threshold": 2.0,
        "release": 3.0,
        "dwell": 1000,
        "fall_back": "clone",
        "fixed": None,
        "counts": "neighbours",
    },
    "chosen": CHOSEN,
    "points": [
        point("unguarded", imagined=0.0, value=1.0, interval=[0.0, 2.0]),
        CHOSEN,
        point("fall-back alone", imagined=1.0, value=6.0, interval=[5.0, 7.0]),
    ],
    "judgements": {},
    "notes": [],
}
PARTS = {"card": CARD, "coverage": COVERAGE, "judgement": JUDGEMENT, "guard": GUARD}


def asked_run(folder: Path, **changes: Any) -> Run:
    """A run that was asked everything, but for parts that are None."""
    run = make_run(folder)
    run.policy_path.write_bytes(b"a policy")
    (run.path / "guard").mkdir()
    for name, values in (PARTS | changes).items():
        if values is not None:
            (run.path / KEPT[name][0]).write_text(json.dumps(values))
    return run
