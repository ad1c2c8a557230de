"""Five raw logs as they lie in companies, for docs/your-log.md and the tests.

`python tests/raw_logs.py FOLDER` writes them: a clinic's visits, a plant's stream, a shop's
contacts, a robot's episodes, and a frame of 300 columns. The same bytes every time.
"""

import csv
import json
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

Row = dict[str, Any]
PAIN = ("none", "mild", "strong")
OFFERS = ("none", "mail", "call", "voucher")
SENSORS = 300


def clinic(patients: int = 60) -> list[Row]:
    """Visits of patients as a ward's computer writes them down, in the order of time.

    Labs differ in unit by eight powers of ten, some are missing; the outcome comes at the end.
    """
    rng = np.random.default_rng(1)
    visits = [row for patient in range(patients) for row in _stay(patient + 1, rng)]
    return sorted(visits, key=lambda row: datetime.strptime(row["visit"], "%d.%m.%Y %H:%M"))


def _stay(patient: int, rng: np.random.Generator) -> list[Row]:
    """One patient: infection falls with the dose, and the kidneys suffer from it."""
    when = datetime(2024, 1, 1, 8) + timedelta(minutes=int(rng.integers(0, 200_000)))
    fixed = {"age": int(rng.integers(20, 90)), "sex": str(rng.choice(["f", "m"]))}
    fixed |= {"smoker": str(rng.choice(["yes", "no"]))}
    infection, kidney, weight = rng.uniform(1, 3), rng.uniform(0.7, 1.1), rng.uniform(50, 100)
    rows: list[Row] = []
    for day in range(int(rng.integers(4, 12))):
        dose = round(float(rng.uniform(0, 500)), 1)
        rows.append(
            {"patient": f"P{patient:03}", "visit": when.strftime("%d.%m.%Y %H:%M"), **fixed}
            | {
                "ward": str(rng.choice(["A", "B", "C", "ICU"], p=[0.4, 0.3, 0.25, 0.05])),
                "pain": PAIN[min(2, int(infection))],
                "weight": "" if day and rng.random() < 0.5 else round(weight, 1),
                "lab_troponin": round(float(0.002 * infection * rng.uniform(0.8, 1.2)), 5),
                "lab_crp": "NA" if rng.random() < 0.2 else round(40 * infection, 1),
                "lab_platelets": round(float(250_000 * kidney * rng.uniform(0.9, 1.1))),
                "dose": dose,
            }
        )
        infection = max(0.0, infection * (1.15 - dose / 1500) + rng.normal(0, 0.1))
        kidney = max(0.2, kidney - dose / 20_000)
        when += timedelta(minutes=int(rng.integers(300, 1800)))
        if infection > 3.2 or infection < 0.8:
            break
    died = infection > 3.2
    for row in rows:
        last = row is rows[-1]
        said = (-100 if died else round(100 - 20 * infection, 1)) if last else ""
        ends = {"died": int(last and died), "discharged": int(last and not died)}
        row |= {"outcome": said} | ends
    return rows


def plant(rows: int = 2000) -> pl.DataFrame:
    """A furnace, one row in ten minutes without an end; a few hours are lost, a few rows doubled.

    The set-point is held for a while; the temperature follows it, late, and the weather disturbs.
    """
    rng = np.random.default_rng(2)
    minutes = 10 * np.arange(rows) + 360 * np.cumsum(rng.random(rows) < 0.004)
    outside = 8 + 6 * np.sin(2 * np.pi * minutes / 1440) + np.cumsum(rng.normal(0, 0.1, rows))
    wind = np.abs(rng.normal(3, 1.5, rows))
    setpoint = np.repeat(rng.integers(66, 75, rows // 5 + 1) * 5.0, 5)[:rows]
    temperature, output = np.full(rows, 350.0), np.zeros(rows)
    for t in range(1, rows):
        pull = 0.3 * (setpoint[t - 1] - temperature[t - 1])
        temperature[t] = temperature[t - 1] + pull + 0.05 * (outside[t] - 8) - 0.1 * wind[t]
        output[t] = 0.8 * output[t - 1] + 0.1 * (temperature[t] - 300) + rng.normal(0, 0.2)
    frame = pl.DataFrame(
        {
            "time": [datetime(2024, 3, 1) + timedelta(minutes=int(m)) for m in minutes],
            "temperature": temperature,
            "output": output,
            "weather_outside": outside,
            "weather_wind": wind,
            "setpoint": setpoint,
        }
    )
    order = np.sort(np.concatenate([np.arange(rows), rng.integers(0, rows, 5)]))
    return frame[order.tolist()]


def shop(customers: int = 120) -> list[Row]:
    """Customers month by month: what they were offered, and what came of it."""
    rng = np.random.default_rng(3)
    return [row for number in range(customers) for row in _customer(1000 + number, rng)]


def _customer(number: int, rng: np.random.Generator) -> list[Row]:
    segment = str(rng.choice(["new", "regular", "business"], p=[0.5, 0.4, 0.1]))
    interest, since = float(rng.uniform(0.2, 0.8)), int(rng.integers(0, 12))
    rows: list[Row] = []
    for month in range(int(rng.integers(4, 13))):
        offer = str(rng.choice(OFFERS, p=[0.4, 0.3, 0.2, 0.1]))
        effect = {"none": 0.0, "mail": 0.1, "call": 0.2, "voucher": 0.3}[offer]
        cost = {"none": 0.0, "mail": 0.5, "call": 6.0, "voucher": 10.0}[offer]
        bought = rng.random() < interest * (0.5 + effect)
        leaves = rng.random() < 0.02 + (0.06 if offer == "call" else 0)
        basket = round(float(rng.gamma(3, 15)), 2) if bought else 0.0
        rows.append(
            {
                "client": number,
                "month": month + 1,
                "segment": segment,
                "interest": round(interest, 1),
                "pause": since,
                "app": bool(interest > 0.6),
                "offer": offer,
                "profit": round(basket - cost, 2),
                "gone": bool(leaves),
            }
        )
        since = 0 if bought else since + 1
        interest = float(np.clip(interest + (0.1 if bought else -0.05), 0, 1))
        if leaves:
            break
    return rows


def robot(episodes: int = 20) -> list[Row]:
    """Episodes of an arm as a recorder keeps them: one observation more than steps."""
    rng = np.random.default_rng(4)
    return [_reach(rng) for _ in range(episodes)]


def _reach(rng: np.random.Generator) -> Row:
    joint, speed = rng.uniform(-1, 1, 2), np.zeros(2)
    joints, speeds, actions, rewards = [joint], [speed], [], []
    reached = False
    while not reached and len(actions) < 40:
        action = np.clip(-0.6 * joint - 0.3 * speed + rng.normal(0, 0.3, 2), -1, 1)
        speed = 0.8 * speed + 0.2 * action
        joint = joint + 0.5 * speed
        reached = bool(np.abs(joint).max() < 0.05)
        joints.append(joint)
        speeds.append(speed)
        actions.append(action)
        rewards.append(float(10 * reached - np.abs(joint).sum()))
    arrays = {"joint": joints, "speed": speeds}
    seen = {name: np.round(values, 5).tolist() for name, values in arrays.items()}
    steps = {"actions": np.round(actions, 5).tolist(), "rewards": rewards}
    return {"observations": seen, **steps, "terminated": reached}


def wide(rows: int = 600) -> pl.DataFrame:
    """A test rig with 300 sensors of all units, of which few matter."""
    rng = np.random.default_rng(5)
    hidden, fan = np.zeros((rows, 4)), rng.uniform(0, 100, rows)
    for t in range(1, rows):
        pull = np.array([0.002, -0.001, 0.0, 0.001]) * (fan[t - 1] - 50)
        hidden[t] = 0.9 * hidden[t - 1] + pull + rng.normal(0, 0.1, 4)
    units = 10.0 ** rng.integers(-3, 6, SENSORS)
    sensors = (
        hidden @ rng.normal(0, 1, (4, SENSORS)) + rng.normal(0, 0.2, (rows, SENSORS))
    ) * units
    return pl.DataFrame(
        {"run": np.arange(rows) // 50, "second": np.arange(rows) % 50}
        | {f"sensor_{i:03}": sensors[:, i] for i in range(SENSORS)}
        | {"fan": fan, "noise": np.abs(hidden[:, 0]) + 0.01 * fan}
    )


def write(folder: Path) -> None:
    """Write all five."""
    visits = clinic()
    with (folder / "clinic.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(visits[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(visits)
    plant().write_parquet(folder / "plant.parquet")
    lines = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in shop())
    (folder / "shop.jsonl").write_text(lines, encoding="utf-8")
    (folder / "robot.json").write_text(json.dumps(robot()), encoding="utf-8")
    wide().write_ipc(folder / "wide.feather")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
