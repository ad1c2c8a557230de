"""The world of docs/insulin.md: a log of insulin doses, and a service judged in that world.

`python insulin.py log log.csv` writes what thirty patients and a noisy rule of thumb did. `python
insulin.py play URL` lets a service dose the same patients on other days, beside that rule. The
world is simglucose's (`pip install simglucose`, in an environment of its own: it pins old packages)
with `--world simglucose`, else a stand-in of a few lines that needs NumPy alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

MINUTES, STEPS = 15, 96
"""Minutes between two doses, and doses of a day."""
BEGIN = datetime(2026, 1, 1)
Row = dict[str, Any]


@dataclass(frozen=True)
class Patient:
    """What a clinic knows of a patient."""

    name: str
    weight: float
    basal: float
    """Insulin of a quarter of an hour without meals, in units."""
    ratio: float
    """Grams of carbohydrates for one unit."""
    correction: float
    """What one unit lowers the glucose by, in mg/dl."""


class StandIn:
    """A few lines of glucose: meals raise it over two hours, insulin lowers it over three."""

    def __init__(self) -> None:
        rng = np.random.default_rng(7)
        self.patients = [
            Patient(f"patient-{i + 1:02}", *self._made(w))
            for i, w in enumerate(rng.uniform(30, 100, 30))
        ]

    @staticmethod
    def _made(weight: float) -> tuple[float, float, float, float]:
        return weight, 0.003 * weight, 700 / weight, 3_000 / weight

    def begin(self, patient: Patient, seed: int) -> float:
        """A new day; the first reading."""
        self.rng, self.patient = np.random.default_rng(seed), patient
        self.glucose, self.gut, self.insulin = self.rng.uniform(100, 180), 0.0, 0.0
        return self._read()

    def step(self, dose: float, carbs: float) -> tuple[float, float, bool]:
        """A quarter of an hour: the next reading, the mean risk, whether the day ended."""
        self.gut, self.insulin = self.gut + carbs, self.insulin + dose - self.patient.basal
        eaten, used = 0.2 * self.gut, 0.12 * self.insulin
        self.gut, self.insulin = self.gut - eaten, self.insulin - used
        change = self.patient.correction * (eaten / self.patient.ratio - used)
        self.glucose += change + 0.02 * (130 - self.glucose) + 2 * self.rng.standard_normal()
        self.glucose = min(600.0, max(20.0, self.glucose))
        return self._read(), risk(self.glucose), self.glucose <= 20

    def _read(self) -> float:
        return float(self.glucose + 5 * self.rng.standard_normal())


class SimGlucose:
    """simglucose: the UVA/Padova model of type 1 diabetes, thirty patients, and a sensor.

    Of the package the patients and the sensor are used. It also imports an old gym and Matplotlib,
    of which nothing is needed here.
    """

    def __init__(self) -> None:
        others = ("gym", "gym.envs", "gym.envs.registration", "matplotlib", "matplotlib.pyplot")
        for name in others:
            sys.modules.setdefault(name, ModuleType(name))
        sys.modules["gym.envs.registration"].register = lambda **_: None  # type: ignore
        import pandas as pd
        from simglucose.patient import t1dpatient
        from simglucose.sensor.cgm import CGMSensor

        self.model, self.sensor_of = t1dpatient, CGMSensor
        self.bodies = pd.read_csv(t1dpatient.PATIENT_PARA_FILE).set_index("Name")
        rules = pd.read_csv(Path(t1dpatient.PATIENT_PARA_FILE).with_name("Quest.csv"))
        self.patients = [
            Patient(
                str(rule.Name),
                float(self.bodies.loc[rule.Name].BW),
                float(self.bodies.loc[rule.Name].u2ss * self.bodies.loc[rule.Name].BW / 6_000)
                * MINUTES,
                float(rule.CR),
                float(rule.CF),
            )
            for rule in rules.itertuples()
        ]

    def begin(self, patient: Patient, seed: int) -> float:
        """A new day; the first reading."""
        make = self.model.T1DPatient.withName
        self.body = make(patient.name, random_init_bg=True, seed=seed)
        # Every attribute of pandas takes microseconds, and the model asks for dozens, thousands of
        # times a minute.
        self.body._params = SimpleNamespace(**self.body._params.to_dict())
        self.sensor = self.sensor_of.withName("Dexcom", seed=seed)
        self.reading = float(self.sensor.measure(self.body))
        return self.reading

    def step(self, dose: float, carbs: float) -> tuple[float, float, bool]:
        """A quarter of an hour: the next reading, the mean risk, whether the day ended."""
        risks = []
        for minute in range(MINUTES):
            eaten = carbs if minute == 0 else 0.0
            self.body.step(self.model.Action(CHO=eaten, insulin=dose / MINUTES))
            self.reading = float(self.sensor.measure(self.body))
            risks.append(risk(float(self.body.observation.Gsub)))
        return self.reading, float(np.mean(risks)), float(self.body.observation.Gsub) <= 20


WORLDS = {"stand-in": StandIn, "simglucose": SimGlucose}


def risk(glucose: float) -> float:
    """How dangerous a glucose is, 0 at 112 mg/dl and 100 at 20 (Kovatchev and others, 1997)."""
    return 10 * (1.509 * (np.log(max(20.0, min(600.0, glucose))) ** 1.084 - 5.381)) ** 2


def meals(patient: Patient, rng: np.random.Generator) -> dict[int, float]:
    """Grams of carbohydrates by the step at which they are eaten."""
    found = {}
    for hour, share in ((7.5, 0.7), (12.5, 1.0), (18.5, 1.0), (21.0, 0.3)):
        at = round((hour + rng.normal(0, 0.7)) * 60 / MINUTES)
        if rng.random() < 0.9:
            found[at] = round(float(patient.weight * share * rng.uniform(0.6, 1.2)))
    return found


def rule_of_thumb(row: Row, patient: Patient) -> float:
    """Basal insulin, a unit for so many carbohydrates, and a correction of what is too high."""
    dose = patient.basal + row["carbs"] / patient.ratio
    if row["carbs"] and row["glucose"] > 150:
        dose += max(0.0, (row["glucose"] - 140) / patient.correction - row["on_board"])
    return dose


def day(world: Any, patient: Patient, number: int, dose: Callable[[Row], float]) -> Iterator[Row]:
    """One patient's day, a row for each dose."""
    rng = np.random.default_rng([number, int(patient.weight * 100)])
    eaten, before, on_board = meals(patient, rng), None, 0.0
    # The noise of a day is a person's own.
    glucose = world.begin(patient, int(rng.integers(2**31)))
    for step in range(STEPS):
        row: Row = {
            "day": f"{patient.name}/{number}",
            "time": (BEGIN + timedelta(days=number, minutes=step * MINUTES)).isoformat(" "),
            "glucose": round(glucose, 1),
            "trend": round(glucose - (glucose if before is None else before), 1),
            "on_board": round(on_board, 3),
            "carbs": eaten.get(step, 0.0),
            "weight": round(patient.weight, 1),
            "basal": round(patient.basal, 4),
            "ratio": round(patient.ratio, 2),
        }
        units = round(min(25.0, max(0.0, dose(row))), 2)
        before = glucose
        glucose, danger, ended = world.step(units, row["carbs"])
        on_board = 0.92 * (on_board + max(0.0, units - patient.basal))
        yield row | {"insulin": units, "risk": round(danger, 3), "ended": int(ended)}
        if ended:
            return


def log(world: Any, path: Path, days: int, first: int, scale: float) -> None:
    """Write what a noisy rule of thumb did; `scale` multiplies glucose, as another unit would."""
    with open(path, "w", newline="") as file:
        writer = None
        for patient in world.patients:
            for number in range(first, first + days):
                rng = np.random.default_rng([3, number, int(patient.weight * 100)])

                def noisy(row: Row, rng=rng, patient=patient) -> float:
                    forgotten = row["carbs"] and rng.random() < 0.1
                    base = patient.basal if forgotten else rule_of_thumb(row, patient)
                    extra = rng.exponential(0.3 * patient.basal) * (rng.random() < 0.3)
                    return base * float(np.exp(0.25 * rng.standard_normal())) + extra

                for row in day(world, patient, number, noisy):
                    row |= {"glucose": round(row["glucose"] * scale, 2)}
                    row |= {"trend": round(row["trend"] * scale, 2)}
                    writer = writer or csv.DictWriter(file, list(row))
                    if file.tell() == 0:
                        writer.writeheader()
                    writer.writerow(row)


def write(folder: Path) -> None:
    """The logs of docs/insulin.md, of the stand-in."""
    log(StandIn(), folder / "insulin.csv", 1, 0, 1.0)
    log(StandIn(), folder / "good.csv", 1, 7, 1.0)
    log(StandIn(), folder / "unit.csv", 1, 8, 0.0555)


def asked(url: str, told: dict[str, int]) -> Callable[[Row], float]:
    """A service's doses; `told` counts what it said of them."""

    def dose(row: Row) -> float:
        said = json.dumps({"row": row}).encode()
        with urllib.request.urlopen(f"{url}/act", data=said, timeout=30) as answer:
            found = json.load(answer)
        for name in ("doses", f"{found['level']}", *(("fell back",) if found["fell_back"] else ())):
            told[name] = told.get(name, 0) + 1
        return 0.0 if found["action"] is None else float(found["action"]["insulin"])

    return dose


def remembered(folder: str, told: dict[str, int]) -> Callable[[], Callable[[Row], float]]:
    """Begins days of a bundle's own sessions, which remember what a guard has to."""
    sys.path.insert(0, folder)
    from runtime import load  # type: ignore  # Of the bundle: NumPy alone.

    sys.path.remove(folder)
    bundle = load(folder)

    def begin() -> Callable[[Row], float]:
        session = bundle.session()

        def dose(row: Row) -> float:
            action, why = session.act_row(row)
            for name in ("doses", f"{why.level}", *(("fell back",) if why.fell_back else ())):
                told[name] = told.get(name, 0) + 1
            return 0.0 if action is None else float(action["insulin"])

        return dose

    return begin


def play(world: Any, urls: list[str], days: int, first: int, people: int) -> dict[str, Any]:
    """Days under the rule of thumb without its noise, under each service and each bundle."""
    patients = world.patients[:: max(1, len(world.patients) // people)]
    found: dict[str, Any] = {}
    for name in ("rule of thumb", *urls):
        told: dict[str, int] = {}
        rows: list[Row] = []
        begin = remembered(name, told) if (Path(name) / "runtime.py").exists() else None
        for patient in patients:
            rule = lambda row, p=patient: rule_of_thumb(row, p)  # noqa: E731
            act = rule if name == "rule of thumb" else asked(name, told)
            for number in range(first, first + days):
                rows += day(world, patient, number, begin() if begin else act)
        glucose = np.array([row["glucose"] for row in rows])
        found[name] = {
            "mean risk": round(float(np.mean([row["risk"] for row in rows])), 2),
            "in range": round(float(((glucose >= 70) & (glucose <= 180)).mean()), 3),
            "below 70": round(float((glucose < 70).mean()), 3),
            "ended early": sum(row["ended"] for row in rows),
            **told,
        }
    return found


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("log", "play"))
    parser.add_argument("what", nargs="+", help="the file to write, or services and bundles")
    parser.add_argument("--world", choices=tuple(WORLDS), default="stand-in")
    parser.add_argument("--days", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="number of the first day")
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the logged glucose")
    told = parser.parse_args(words)
    world = WORLDS[told.world]()
    if told.do == "log":
        log(world, Path(told.what[0]), told.days, told.first, told.scale)
    else:
        found = play(world, told.what, told.days, told.first, told.people)
        print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
