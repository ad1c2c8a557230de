"""Five raw logs become policies, and a policy sees in a raw row what it learned from that row.

The importer and the runtime read raw values each in its own way, one by columns and one by rows;
here the two meet, for every kind of column.
"""

import csv
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import raw_logs
from countmorl import Dataset, from_table, load, load_policy, train
from countmorl.cli import main
from countmorl.runtime.actions import name_action
from countmorl.runtime.rows import Rows
from countmorl.runtime.session import Session
from small_runs import QUIET, small
from test_readme import blocks, lines, page, words_of

Row = dict[str, Any]
GUIDE = "docs/your-log.md"


def imported(raw: str) -> Dataset:
    """A raw log of the page, imported by the page's own command."""
    raw_logs.write(Path())
    for block in blocks(page(GUIDE)):
        if block.language == "toml":
            Path(block.file).write_text(block.body)
    said = [
        words_of(line)
        for b in blocks(page(GUIDE))
        if b.language == "bash" and not b.why_not
        for line in lines(b.body)
    ]
    (words,) = [words for words in said if words and words[:3] == ["data", "import", raw]]
    assert main(words) == 0
    return load(words[words.index("-o") + 1])


def trained(dataset: Dataset, name: str = "bc"):
    return load_policy(train(small(name), dataset, out="run", **QUIET).path)


def agree(policy, dataset: Dataset, rows: list[Row], *, count: int | None = None) -> None:
    """Sessions that read raw rows advise what the policy does on the dataset's own observations."""
    assert len(rows) == len(dataset)
    begins = {0, *(dataset.episode_ends + 1).tolist()}
    session = policy.session()
    for i, row in enumerate(rows[:count]):
        session = policy.session() if i in begins else session
        advised = session.act_row(row)
        wanted = name_action(dataset.schema, policy.act(dataset.obs[i]))
        assert advised == (wanted if dataset.discrete else pytest.approx(wanted, rel=1e-5)), i
        done = dataset.action[i]
        session.executed(int(done.argmax()) if dataset.discrete else done)


def together(rows: list[Row], key: str) -> list[Row]:
    """Rows of one id behind each other, ids in the order in which they come first."""
    ids = list(dict.fromkeys(row[key] for row in rows))
    return sorted(rows, key=lambda row: ids.index(row[key]))


class TestFiveLogs:
    def test_a_clinic(self, capsys):
        dataset = imported("clinic.csv")
        policy = trained(dataset)
        with open("clinic.csv", newline="") as file:
            visits = together(list(csv.DictReader(file)), "patient")
        agree(policy, dataset, visits)
        kinds = {column.kind for column in dataset.schema.obs}
        assert kinds == {"number", "boolean", "category", "scale", "elapsed", "hour", "weekday"}
        assert any(visit["ward"] == "ICU" for visit in visits)  # It is another one.
        typed = [
            visit | {"visit": when(visit["visit"]), "age": int(visit["age"])} for visit in visits
        ]
        agree(policy, dataset, typed)

    def test_a_plant(self, capsys):
        dataset = imported("plant.parquet")
        assert (dataset.schema.history, len(dataset.episode_ends)) == (3, 10)
        assert not dataset.terminated.any()
        agree(trained(dataset), dataset, pl.read_parquet("plant.parquet").to_dicts())
        assert "two rows of an episode have the same time" in capsys.readouterr().out

    def test_a_shop(self, capsys):
        dataset = imported("shop.jsonl")
        policy = trained(dataset)
        rows = [json.loads(line) for line in Path("shop.jsonl").read_text().splitlines()]
        agree(policy, dataset, rows)
        assert set(policy.action_names) == set(raw_logs.OFFERS)
        named = [policy.action_names[number] for number in policy.act(dataset.obs)]
        assert policy.act_rows(rows) == named

    def test_a_robot(self):
        episodes = raw_logs.robot()
        dataset = load(episodes)
        rows = [
            {
                f"{name}.{i}": values[t][i]
                for name, values in e["observations"].items()
                for i in (0, 1)
            }
            for e in episodes
            for t in range(len(e["rewards"]))
        ]
        agree(trained(dataset), dataset, rows)

    def test_a_wide_frame(self):
        frame = raw_logs.wide()
        how = {"episode": "run", "time": "second", "obs": "sensor_*", "action": "fan"}
        dataset = from_table(frame, reward="-noise", **how)
        assert dataset.obs.shape == (600, 300)
        policy = trained(dataset)
        agree(policy, dataset, frame.to_dicts(), count=60)
        row = frame.row(3, named=True)
        assert policy.act_row(row)["fan"] == pytest.approx(policy.act(dataset.obs[3])[0], rel=1e-5)

    def test_they_are_the_same_every_time(self):
        assert raw_logs.clinic() == raw_logs.clinic()
        assert raw_logs.plant().equals(raw_logs.plant())


def when(text: str) -> datetime:
    return datetime.strptime(text, "%d.%m.%Y %H:%M")


COUNT, EPISODE = 24, 8
START = datetime(2024, 2, 27, 22, 15, 30)
TIMES = [START + timedelta(minutes=97 * (i % 8), days=i // 8) for i in range(COUNT)]


def text(pattern: str) -> list[str]:
    return [time.strftime(pattern) for time in TIMES]


KINDS: dict[str, tuple[list, Row]] = {
    "number": ([i * 1.1 for i in range(COUNT)], {}),
    "number in small units": ([i * 1.1e-9 for i in range(COUNT)], {}),
    "number as text": ([f" {i}.50" for i in range(COUNT)], {}),
    "number of true": (["True" if i % 3 else "false" for i in range(COUNT)], {"kind": "number"}),
    "boolean": ([i % 3 == 0 for i in range(COUNT)], {}),
    "boolean of words": (["Yes" if i % 3 else "no" for i in range(COUNT)], {"kind": "boolean"}),
    "boolean of numbers": (["1.0" if i % 3 else "0" for i in range(COUNT)], {"kind": "boolean"}),
    "category": (["a", "b", "c "] * 8, {}),
    "category of numbers": ([1.0, 2.5, 7.0] * 8, {"kind": "category"}),
    "category of digits": (["1.0", "2.50", "07"] * 8, {"kind": "category"}),
    "category of true": (["True", "FALSE"] * 12, {"kind": "category"}),
    "category of dates": (text("%d.%m.%Y"), {"kind": "category"}),
    "other": (["a", "b", "z"] * 8, {"values": ["a", "b"], "unknown": "other"}),
    "other that is known": (["a", "z", "b"] * 8, {"values": ["other", "a"], "unknown": "other"}),
    "scale": (["low", "high", "mid"] * 8, {"kind": "scale", "values": ["low", "mid", "high"]}),
    "scale of numbers": ([3, 1, 2] * 8, {"kind": "scale", "values": ["1", "2", "3"]}),
    "elapsed": (TIMES, {}),
    "elapsed days": ([time.date() for time in TIMES], {}),
    "elapsed text": (text("%Y-%m-%dT%H:%M:%S"), {}),
    "elapsed in a zone": (text("%Y-%m-%d %H:%M:%S+01:00"), {}),
    "elapsed with dots": (text("%d.%m.%Y %H:%M"), {}),
    "elapsed by month": (text("%m/%d/%Y"), {}),
    "elapsed as said": (text("%y%m%d-%H%M"), {"date_format": "%y%m%d-%H%M"}),
    "elapsed digits": (text("%Y%m%d"), {"date_format": "%Y%m%d"}),
    "elapsed numbers": ([1e9 + 7 * i for i in range(COUNT)], {"kind": "elapsed"}),
    "elapsed duration": ([time - START for time in TIMES], {"kind": "elapsed"}),
    "hour": (TIMES, {"kind": "hour"}),
    "hour with dots": (text("%d.%m.%Y %H:%M:%S"), {"kind": "hour"}),
    "hour in a zone": (text("%Y-%m-%dT%H:%M:%S-05:00"), {"kind": "hour"}),
    "weekday": (TIMES, {"kind": "weekday"}),
    "weekday of days": (text("%Y/%m/%d"), {"kind": "weekday"}),
    "median": ([None if i % 5 == 1 else float(i) for i in range(COUNT)], {"missing": "median"}),
    "median of text": (
        ["NA" if i % 5 == 1 else str(i) for i in range(COUNT)],
        {"missing": "median"},
    ),
    "median of a scale": (
        ["low", None, "high", "mid"] * 6,
        {"kind": "scale", "values": ["low", "mid", "high"], "missing": "median"},
    ),
    "a value": ([None if i % 5 == 1 else i for i in range(COUNT)], {"missing": -3.5}),
    "a word": (["a", "N/A", "b", ""] * 6, {"missing": "b"}),
    "a word for nothing": (["a", "?", "b", "-"] * 6, {"missing": "none"}),
    "carry": ([None if i % 8 in (1, 2, 6) else i for i in range(COUNT)], {"missing": "carry"}),
    "carry words": (["a", None, "b", "null"] * 6, {"missing": "carry"}),
    "carry times": (
        [None if i % 8 in (2, 3) else t for i, t in enumerate(TIMES)],
        {"missing": "carry"},
    ),
}


def table(form: str) -> tuple[Any, list[Row]]:
    """Three episodes of eight rows with a column of each kind, and its rows as one reads them."""
    rng = np.random.default_rng(0)
    kinds = {name: pl.Series(values, strict=False) for name, (values, _) in KINDS.items()}
    frame = pl.DataFrame(
        {"id": np.arange(COUNT) // EPISODE, "r": rng.standard_normal(COUNT)}
        | {"dose": rng.uniform(0, 1, COUNT), **kinds}
    )
    if form == "frame":
        return frame, frame.to_dicts()
    frame.drop("elapsed duration").write_csv("log.csv")  # A CSV has no durations.
    with open("log.csv", newline="") as file:
        return "log.csv", list(csv.DictReader(file))


def seen(dataset: Dataset, rows: list[Row], skip: int) -> np.ndarray:
    """What sessions show a policy that is asked about every `skip`th row of an episode."""
    shown: list[np.ndarray] = []

    def act(obs: np.ndarray, rng: Any = None) -> np.ndarray:
        shown.append(obs)
        return dataset.action[len(shown) - 1]  # What was done in the log.

    session = Session(act, Rows(dataset.schema))
    for i, row in enumerate(rows):
        session = Session(act, Rows(dataset.schema)) if i % EPISODE == 0 else session
        session.act_row(row) if i % EPISODE % skip == 0 else session.see(row)
    return np.array(shown)


@pytest.mark.parametrize("form", ["frame", "csv"])
@pytest.mark.parametrize(("history", "skip"), [(1, 1), (3, 1), (2, 3)])
def test_rows_are_read_as_the_importer_read_them(form, history, skip):
    source, rows = table(form)
    names = [name for name in KINDS if name in rows[0]]
    said = {name: KINDS[name][1] for name in names}
    again = {f"{name} again": said[name] for name in names}
    dataset = from_table(
        source,
        obs=[*names, *(f'"{name} again" = "{name}"' for name in names)],
        action="dose",
        reward="r",
        episode="id",
        columns=said | again,
        null=["?", "-"],
        history=history,
        frame_skip=skip,
    )
    differ = (seen(dataset, rows, skip) != dataset.obs).any(axis=0)
    assert not [name for name, wrong in zip(dataset.obs_names, differ, strict=True) if wrong]
