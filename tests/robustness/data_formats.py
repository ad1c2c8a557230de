"""Every format of foreign data, for the fuzzer: logs as others store them, and what reads them."""

import json
import os
import random
import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import numpy as np

from countmorl.data.check import check
from countmorl.data.dataset import Dataset
from countmorl.data.readers import hdf5_text
from countmorl.data.sources import read as read_source
from countmorl.data.tables.importing import from_table
from countmorl.runs.options import DataOptions
from countmorl.schema import Column, Schema, schema_bytes
from robustness.damage import by_bytes, by_json, by_lines
from robustness.format import Format

ROWS = 24
HEADER = 128
"""Bytes of the header of an array in an NPZ file."""
PACKED = {"compression": "gzip", "shuffle": True, "chunks": True}
CHECKED = {"compression": "lzf", "fletcher32": True, "chunks": True}


def log(*, discrete: bool = False) -> dict[str, np.ndarray]:
    """A small clean log in D4RL's layout, with what our own writer adds."""
    rng = np.random.default_rng(0)
    ends = np.arange(ROWS) % 8 == 7
    states = rng.standard_normal((ROWS + 1, 3)).astype(np.float32)
    actions = rng.uniform(-0.9, 0.9, (ROWS, 2)).astype(np.float32)
    bounds = {"action_low": -np.ones(2), "action_high": np.ones(2), "schema": _schema()}
    return {
        "observations": states[:-1],
        "actions": np.arange(ROWS) % 3 if discrete else actions,
        "rewards": rng.standard_normal(ROWS),
        "next_observations": states[1:],
        "terminals": ends & (np.arange(ROWS) < 8),
        "timeouts": ends & (np.arange(ROWS) >= 8),
    } | ({"action_count": np.array(3)} if discrete else bounds)


def _schema() -> np.ndarray:
    obs, action = (tuple(Column(name=name) for name in names) for names in ("abc", "xy"))
    return schema_bytes(Schema(obs=obs, action=action))


def make_npz(folder: Path) -> Path:
    """Arrays as numpy saves them, with the task's name."""
    np.savez(folder / "log.npz", **log(), env_id=np.array(b"Pendulum-v1"))
    return folder / "log.npz"


def make_packed_npz(folder: Path) -> Path:
    """The same, packed, with discrete actions and ids of episodes."""
    ids = {"episode_id": np.array([f"e{row // 8}" for row in range(ROWS)])}
    np.savez_compressed(folder / "log.npz", **log(discrete=True), **ids)
    return folder / "log.npz"


def by_member(path: Path, rng: random.Random) -> None:
    """Damage an array of an NPZ file, most often its header, and make its checksum right again."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    head = members[name][: HEADER if rng.random() < 0.7 else None]
    part = path.with_name("part")
    part.write_bytes(head)
    by_bytes(part, rng)
    members[name] = part.read_bytes() + members[name][len(head) :]
    with zipfile.ZipFile(path, "w") as archive:
        for each, raw in members.items():
            archive.writestr(each, raw)


def hdf5(path: Path, arrays: dict[str, Any], attributes: dict[str, Any], libver: Any) -> Path:
    """Arrays in turn plain, packed, and packed with checksums; a slash in a name makes groups."""
    options = ({}, PACKED, CHECKED)
    with h5py.File(path, "w", libver=libver) as file:
        for number, (name, values) in enumerate(arrays.items()):
            file.create_dataset(name, data=values, **options[number % 3 if np.ndim(values) else 0])
        for name, value in attributes.items():
            file.attrs[name] = value
    return path


def make_hdf5(folder: Path) -> Path:
    """D4RL's layout, with groups that nobody reads."""
    others = {"metadata/algorithm": np.array(b"SAC"), "infos/qpos": np.zeros((ROWS, 2))}
    said = {"env_id": np.bytes_("Pendulum-v1")}
    return hdf5(folder / "log.hdf5", log() | others, said, None)


def make_new_hdf5(folder: Path) -> Path:
    """The same as the newest libraries write it, with discrete actions and attributes."""
    said = {"env_id": np.bytes_("CartPole-v1"), "version": 3, "sizes": np.arange(5)}
    return hdf5(folder / "log.hdf5", log(discrete=True), said, "latest")


def make_texts(folder: Path) -> Path:
    """A file with text of any length, which lies in the file's heap."""
    ids = np.array([f"e{row // 8}" for row in range(ROWS)], object)
    return hdf5(folder / "log.hdf5", log() | {"episode_id": ids}, {"env_id": "Pendulum-v1"}, None)


def make_d3rlpy(folder: Path) -> Path:
    """Episode after episode, as d3rlpy stores them."""
    whole, found = log(), {}
    for number in range(3):
        rows = slice(8 * number, 8 * number + 8)
        for name in ("observations", "actions", "rewards"):
            found[f"{name}_{number}"] = whole[name][rows]
        found[f"terminated_{number}"] = np.array(number == 0)
    return hdf5(folder / "buffer.h5", found | {"version": np.array(b"2.1")}, {}, None)


def make_minari(folder: Path) -> Path:
    """A local Minari dataset, of which the arrays are damaged."""
    rng, steps, found = np.random.default_rng(0), 5, {}
    for number in range(3):
        own = {
            "observations/a": rng.standard_normal((steps + 1, 2)),
            "observations/b": rng.standard_normal(steps + 1),
            "actions": rng.uniform(-1, 1, (steps, 1)),
            "rewards": rng.standard_normal(steps),
            "terminations": np.arange(steps) == steps - 1,
            "truncations": np.zeros(steps, bool),
            "infos/extra": np.zeros(steps + 1),
        }
        found |= {f"episode_{number}/{name}": values for name, values in own.items()}
    data = folder / "test" / "toy-v0" / "data"
    data.mkdir(parents=True)
    box = {"type": "Box", "dtype": "float64"}
    seen = {
        "a": box | {"shape": [2], "low": [-9.0, -9.0], "high": [9.0, 9.0]},
        "b": box | {"shape": [], "low": -9.0, "high": 9.0},
    }
    about = {
        "total_episodes": 3,
        "total_steps": 3 * steps,
        "data_format": "hdf5",
        "dataset_id": "test/toy-v0",
        "minari_version": "0.5.3",
        "env_spec": gymnasium.spec("Pendulum-v1").to_json(),
        "observation_space": json.dumps({"type": "Dict", "subspaces": seen}),
        "action_space": json.dumps(box | {"shape": [1], "low": [-1.0], "high": [1.0]}),
    }
    (data / "metadata.json").write_text(json.dumps(about))
    return hdf5(data / "main_data.hdf5", found, {"id": 0}, None)


def make_minari_about(folder: Path) -> Path:
    """The same, of which the description is damaged."""
    return make_minari(folder).with_name("metadata.json")


def by_inner_json(path: Path, rng: random.Random) -> None:
    """Damage the JSON that stands as text within Minari's JSON."""
    whole = json.loads(path.read_text())
    key = rng.choice(("env_spec", "observation_space", "action_space"))
    part = path.with_name("part")
    part.write_text(whole[key])
    by_json(part, rng)
    path.write_text(json.dumps(whole | {key: part.read_text()}))


def use(source: str | Path) -> None:
    """Read a log in both ways, check it, make a dataset of it: what comes out holds together."""
    for mode in ("true", "d4rl-exact"):
        fields = read_source(source, options=DataOptions(mode=mode))
        check(fields)
        sound(Dataset.of(fields))


def use_quickly(path: Path) -> None:
    """The same, with little patience for children that do not end."""
    limit, hdf5_text.LIMIT = hdf5_text.LIMIT, 2.0
    try:
        use(path)
    finally:
        hdf5_text.LIMIT = limit


def use_minari(path: Path) -> None:
    """Read a dataset by its id, as its users do."""
    os.environ["MINARI_DATASETS_PATH"] = str(path.parents[3])
    use("minari:test/toy-v0")


def sound(dataset: Dataset) -> None:
    """Assert what everything that trains on a dataset takes for granted."""
    rows = len(dataset.obs)
    for name, values in dataset.columns.items():
        assert len(values) == rows, name
        assert np.isfinite(values).all(), name
    assert dataset.obs.dtype == dataset.action.dtype == np.float32
    assert dataset.obs.shape == dataset.next_obs.shape
    assert dataset.episode_ends[-1] == rows - 1
    assert (np.diff(dataset.episode_ends) > 0).all()
    assert (dataset.space.low < dataset.space.high).all()
    assert np.isfinite(dataset.transitions().action).all()
    json.dumps(dataset.card())


def table(folder: Path) -> Any:
    """A small log as a table."""
    import polars

    whole = log()
    columns = {name: whole["observations"][:, place] for place, name in enumerate("abc")}
    more = {"dose": whole["actions"][:, 0], "gain": whole["rewards"], "text": ["x", "y,z"] * 12}
    return polars.DataFrame(columns | more | {"patient": np.arange(ROWS) // 8})


def make_csv(folder: Path) -> Path:
    """A table as text."""
    table(folder).write_csv(folder / "log.csv")
    return folder / "log.csv"


def make_lines(folder: Path) -> Path:
    """A table as lines of JSON."""
    table(folder).write_ndjson(folder / "log.jsonl")
    return folder / "log.jsonl"


def make_parquet(folder: Path) -> Path:
    """A table as Parquet."""
    table(folder).write_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def use_table(path: Path) -> None:
    """Import a table by the names of its columns."""
    sound(from_table(path, obs=["a", "b", "c"], action=["dose"], reward="gain", episode="patient"))


DATA_FORMATS: dict[str, Format] = {
    "npz": Format(make_npz, use, (by_bytes, by_member, by_member)),
    "npz-packed": Format(make_packed_npz, use, (by_bytes, by_member, by_member)),
    "hdf5": Format(make_hdf5, use),
    "hdf5-new": Format(make_new_hdf5, use),
    "hdf5-texts": Format(make_texts, use_quickly, slow=True),
    "hdf5-d3rlpy": Format(make_d3rlpy, use),
    "minari": Format(make_minari, use_minari),
    "minari-about": Format(make_minari_about, use_minari, (by_bytes, by_json, by_inner_json)),
    "csv": Format(make_csv, use_table),
    "jsonl": Format(make_lines, use_table, (by_bytes, by_lines)),
    "parquet": Format(make_parquet, use_table),
}
"""Formats of data by name."""
