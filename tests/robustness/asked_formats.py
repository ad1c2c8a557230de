"""What people and programs ask for, for the fuzzer: plans, schemas, sweeps, `auto`, requests."""

import gzip
import json
import random
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from bundles import made
from countmorl.automatic.folder import AutoFolder
from countmorl.cli.sweep import status
from countmorl.data.tables.importing import from_table
from countmorl.data.tables.toml import read_request, write_request
from countmorl.runtime.bundle import load_bundle
from countmorl.serving.answering import BundleAnswers
from countmorl.serving.bodies import read_body
from countmorl.sweeps.files import read_plan
from countmorl.sweeps.folder import SweepFolder
from made_runs import make_run
from robustness.damage import by_bytes, by_json, by_lines
from robustness.data_formats import make_csv, sound, table, use_table
from robustness.format import Format

TOML_VALUES = (
    *("nan", "-inf", "0", "-1", "1e308", "9" * 400, "true", '""', '"x"', '"../../x"', "[]", "{}"),
    *('"\\u001b[31m"', '"*"', '"a b = c"', "[1, [2]]", "[nan]", '["x", 3]', "2024-01-01", "'''"),
    *("{a = 1}", "[" * 3000, "9223372036854775807", '"lag(lag(a))"', '"a/0"', '"/dev/zero"'),
)
"""Values that a place in TOML may be given instead of its own."""
PLAN = """
name = "grid"
data = ["log.npz"]
seeds = 2
preset = "default"

[settings]
epochs = 3

[options]
eval_every = 0

[[methods]]
method = "bc"
label = "Clone"

[[methods]]
method = "td3-bc"
settings = {value_weight = 2.0}
grid = {updates = [10, 20]}
"""
SCHEMA = """
obs = ["a", "b", "rise = a - lag(a)"]
action = ["dose"]
reward = "gain"
episode = "patient"
missing = ["carry"]
history = 2
action_low = [-2.0]
action_high = [2.0]

[columns.b]
missing = "median"
unit = "mg"

[columns.a]
kind = "number"
"""


def by_toml(path: Path, rng: random.Random) -> None:
    """Change values of a TOML file; drop, double or rename a line; or damage a few bytes."""
    lines = path.read_text().splitlines()
    for _ in range(rng.randint(1, 2)):
        at, kind = rng.randrange(len(lines)), rng.randrange(6)
        name, equals, _ = lines[at].partition("=")
        if kind < 4 and equals:
            lines[at] = f"{name}= {rng.choice(TOML_VALUES)}"
        elif kind == 4:
            lines.insert(at, lines[rng.randrange(len(lines))])
        else:
            lines[at] = lines[at].replace(*rng.choice((("a", "x"), ("[", "[["), ("=", ""))))
    path.write_text("\n".join(lines) + "\n")


def make_plan(folder: Path) -> Path:
    """A sweep's plan, as people write it."""
    (folder / "plan.toml").write_text(PLAN)
    return folder / "plan.toml"


def read_made_plan(path: Path) -> None:
    """Every row of it can be written down, and brought back."""
    plan = read_plan(path)
    assert plan.rows
    json.dumps([row.as_dict() for row in plan.rows])
    assert len({row.name for row in plan.rows}) == len(plan.rows)


def make_schema(folder: Path) -> Path:
    """A schema file beside its table."""
    table(folder).write_parquet(folder / "log.parquet")
    (folder / "schema.toml").write_text(SCHEMA)
    return folder / "schema.toml"


def read_schema(path: Path) -> None:
    """Import the table by it."""
    write_request(read_request(path))
    sound(from_table(path.with_name("log.parquet"), schema=path))


def make_sweep(folder: Path) -> Path:
    """A sweep of one run, of which the plan that it keeps is damaged."""
    run = make_run(folder / "bc-toy-0")
    row = {"name": run.path.name, "algorithm": "bc", "data": "toy", "options": {}}
    sweep = SweepFolder(folder)
    sweep.write_plan("mine", [row | {"config": {"epochs": 9}}])
    sweep.note_failure(run.path.name, "It failed.")
    return folder / "sweep.json"


def make_failures(folder: Path) -> Path:
    """The same, of which the failures are damaged."""
    return make_sweep(folder).with_name("failures.json")


def make_standing(folder: Path) -> Path:
    """The same, of which the lines of the run are damaged, while it is under way."""
    return make_sweep(folder).parent / "bc-toy-0" / "metrics.jsonl"


def make_standing_times(folder: Path) -> Path:
    """The same for the times."""
    return make_standing(folder).with_name("timing.jsonl")


def read_sweep(path: Path) -> None:
    """Show how far it is, to people and to scripts; no name in it moves a terminal's cursor."""
    folder = path.parent if path.parent.name != "bc-toy-0" else path.parents[1]
    said = StringIO()
    with redirect_stdout(said):
        status(folder)
        status(folder, json=True)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said.getvalue())


ASK = {"budget": 60.0, "seed": 0, "data": "ab"}


def make_state(folder: Path) -> Path:
    """What `countmorl auto` knows when it goes on."""
    found = AutoFolder(folder)
    state = found.state(ASK) | {"spent": 9.5, "pull": 2.5, "scale": 0.25, "tried": 2}
    costs = {"bc": {"update": 0.001, "start": 1.0}}
    found.write_state(state | {"seconds": 20.0, "costs": costs})
    return folder / "auto.json"


def read_state(path: Path) -> None:
    """Decide by it what is trained."""
    from countmorl.automatic import portfolio
    from countmorl.runs.options import DataOptions

    state = AutoFolder(path.parent).state(ASK)
    assert 0 <= state["spent"] < 1e12
    if "scale" in state:
        trials = portfolio.trials(discrete=False, pull=state["pull"])
        asked = portfolio.Ask(source="log.npz", data_options=DataOptions(), seed=0)
        plan = portfolio.plan(asked, trials[: state["tried"]], state["scale"])
        assert plan.rows
    AutoFolder(path.parent).write_state(state)


BODIES = (
    {"row": {"glucose": 100.0, "ward": "A"}},
    {"obs": [[100.0, 1.0, 0.0, 0.0], [90.0, 0.0, 1.0, 0.0]]},
    {"rows": [{"glucose": 100, "ward": "B"}, {"glucose": "91.5", "ward": "ICU"}]},
)


def make_body(folder: Path) -> Path:
    """A request to `countmorl serve`."""
    made(folder / "bundle", counter="simhash")
    (folder / "body").write_text(json.dumps(BODIES[1]))
    return folder / "body"


def by_body(path: Path, rng: random.Random) -> None:
    """Another request, damaged as JSON is."""
    path.write_text(json.dumps(rng.choice(BODIES)))
    by_json(path, rng)


def read_request_body(path: Path) -> None:
    """Answer it: strict JSON comes out."""
    answers = BundleAnswers(load_bundle(path.parent / "bundle"))
    asked = read_body(path.read_bytes())
    found = (answers.numbers if asked.numbers else answers.rows)(asked.what)
    json.dumps([each.as_dict() for each in found], allow_nan=False)


def make_arrow(folder: Path) -> Path:
    """A table as an Arrow file."""
    table(folder).write_ipc(folder / "log.arrow")
    return folder / "log.arrow"


def make_packed_csv(folder: Path) -> Path:
    """A table as packed text."""
    path = folder / "log.csv.gz"
    path.write_bytes(gzip.compress(make_csv(folder).read_bytes()))
    return path


ASKED_FORMATS: dict[str, Format] = {
    "plan": Format(make_plan, read_made_plan, (by_bytes, by_toml, by_toml)),
    "schema": Format(make_schema, read_schema, (by_bytes, by_toml, by_toml)),
    "sweep": Format(make_sweep, read_sweep, (by_bytes, by_json)),
    "sweep-failures": Format(make_failures, read_sweep, (by_bytes, by_json)),
    "sweep-metrics": Format(make_standing, read_sweep, (by_bytes, by_lines)),
    "sweep-timing": Format(make_standing_times, read_sweep, (by_bytes, by_lines)),
    "auto": Format(make_state, read_state, (by_bytes, by_json)),
    "request": Format(make_body, read_request_body, (by_bytes, by_body, by_body)),
    "arrow": Format(make_arrow, use_table),
    "csv-packed": Format(make_packed_csv, use_table),
}
"""Formats of what is asked for, by name."""
