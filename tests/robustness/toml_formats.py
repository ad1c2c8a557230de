"""What people write by hand, for the fuzzer: plans of sweeps and schema files."""

import random
from pathlib import Path

from countmorl.data.tables.toml import read_request
from countmorl.sweeps.files import read_plan
from robustness.damage import by_bytes
from robustness.format import Format

PLAN = """
name = "weights"
data = ["a.npz", "b.npz"]
seeds = 2
preset = "paper"

[settings]
epochs = 3

[[methods]]
method = "count-morl"
[methods.grid]
beta = [0.5, 1]
sac.hidden = [[8, 8], [16, 16]]

[[methods]]
method = "bc"
label = "clone"
"""
SCHEMA = """
obs = ["temperature", "level"]
action = ["valve"]
reward = "gain"
episode = "batch"
time = "at"
gap = "10m"
history = 2
exogenous = ["temperature"]

[columns.level]
values = ["low", "high"]
unknown = "other"

[columns.temperature]
fill = 0.5
unit = "C"
"""
STRANGE = (
    "9" * 5_000,
    "[" * 100_000,
    "nan",
    "-inf",
    "1979-05-27T07:32:00Z",
    '""',
    "{}",
    "[[]]",
    "-1",
)


def by_values(path: Path, rng: random.Random) -> None:
    """Give a place another value, or a line another place."""
    lines = path.read_text().splitlines()
    at = rng.randrange(len(lines))
    if " = " in lines[at] and rng.random() < 0.7:
        lines[at] = lines[at].split(" = ")[0] + " = " + rng.choice(STRANGE)
    else:
        lines[at] = rng.choice((*lines, "[a]", "[[methods]]", "x = 1", "[columns]"))
    path.write_text("\n".join(lines))


def make_plan(folder: Path) -> Path:
    """A plan beside its data."""
    for name in ("a.npz", "b.npz"):
        (folder / name).touch()
    (folder / "plan.toml").write_text(PLAN)
    return folder / "plan.toml"


def make_schema(folder: Path) -> Path:
    """A schema file."""
    (folder / "schema.toml").write_text(SCHEMA)
    return folder / "schema.toml"


TOML_FORMATS = {
    "plan": Format(make_plan, read_plan, (by_bytes, by_values)),
    "schema-file": Format(make_schema, read_request, (by_bytes, by_values)),
}
