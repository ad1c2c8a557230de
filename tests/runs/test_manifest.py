import json
from dataclasses import replace
from importlib.metadata import version

import pytest

from countmorl import DataOptions, RunOptions
from countmorl.configs import to_json
from countmorl.errors import RunError
from countmorl.runs.manifest import FORMAT, DataOrigin, Manifest, installed_versions
from countmorl.schema import Column, Schema

FULL = Manifest(
    algorithm="cql",
    config={"updates": 3, "sac": {"hidden": [8, 8], "target_entropy": None}},
    own=("weight",),
    options=RunOptions(seed=3, log=("tensorboard",)),
    data=DataOrigin(
        name="log",
        hash="abc",
        source="log.npz",
        options=DataOptions(rows=5),
        schema=Schema(obs=(Column(name="lab", unit="mg"),), action=(Column(name="dose"),)),
    ),
    model_seed=7,
    model_run="runs/shared",
    epochs_before=(4, 8),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "config.json"


@pytest.mark.parametrize("manifest", [FULL, Manifest(algorithm="tabular")], ids=["full", "least"])
def test_what_is_written_is_read(path, manifest):
    manifest.write(path)
    assert Manifest.read(path) == manifest
    assert json.loads(path.read_text())["format"] == FORMAT


def test_runs_from_before_there_were_schemas_are_read(path):
    FULL.write(path)
    values = json.loads(path.read_text())
    del values["data"]["schema"]
    path.write_text(json.dumps(values))
    assert Manifest.read(path).data == replace(FULL.data, schema=None)


def test_runs_from_before_an_option_existed_are_read(path):
    FULL.write(path)
    values = json.loads(path.read_text())
    for name in ("done", "actions"):
        del values["data"]["options"][name]
    del values["options"]["label"]
    path.write_text(json.dumps(values))
    assert Manifest.read(path) == FULL


def test_runs_from_before_episodes_were_set_aside_are_read(path):
    FULL.write(path)
    values = json.loads(path.read_text())
    del values["data"]["holdout"], values["data"]["options"]["holdout_episodes"]
    path.write_text(json.dumps(values))
    origin = Manifest.read(path).data
    assert (origin.holdout, origin.options.holdout_episodes) == (None, 0.0)


def test_settings_are_found_by_their_place_and_by_their_dotted_names():
    manifest = Manifest(algorithm="x", config={"beta": 1.0, "sac": {"discount": 0.9}})
    assert manifest.part("sac") == {"discount": 0.9}
    assert manifest.part("beta") is manifest.part("model") is None
    assert manifest.flat_config == {"beta": 1.0, "sac.discount": 0.9}


def test_the_versions_of_what_moves_numbers_are_kept():
    versions = Manifest(algorithm="bc").versions
    assert versions == installed_versions()
    assert versions["countmorl"] == version("countmorl")
    assert set(versions) >= {"python", "jax", "numpy"}


@pytest.mark.parametrize("versions", [{"countmorl": "0.0.1"}, "0.0.1", None])
def test_another_format(path, versions):
    path.parent.mkdir()
    path.write_text(json.dumps({"format": 1, "versions": versions}))
    wanted = f"was written in format 1, this version reads format {FORMAT}.*use that version"
    with pytest.raises(RunError, match=wanted):
        Manifest.read(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seeds": 3}, "Manifest has no setting 'seeds'"),
        ({"algorithm": None}, "`algorithm` must be str, got None"),
        ({"config": [1]}, "`config` must be a table"),
        ({"data": {"name": "x"}}, "config of DataOrigin lacks hash, source, options"),
        ({"data": 3}, "`data` must be"),
        ({"data": to_json(FULL.data) | {"schema": {"obs": 3}}}, "`obs` must be a list"),
        ({"options": {"seed": 0}}, "config of RunOptions lacks"),
        ({"options": to_json(RunOptions()) | {"seed": -1}}, "`seed` must be at least 0"),
        ({"epochs_before": 3}, "`epochs_before` must be a list of int"),
        ({"versions": {"jax": 3}}, "`versions` must be str, got 3"),
    ],
)
def test_what_is_no_manifest_is_said(path, changes, words):
    FULL.write(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(RunError, match=f"does not hold the config of a run: .*{words}"):
        Manifest.read(path)


@pytest.mark.parametrize("name", ["algorithm", "config", "data", "versions", "model_run"])
def test_a_part_that_is_missing_is_named(path, name):
    FULL.write(path)
    values = json.loads(path.read_text())
    del values[name]
    path.write_text(json.dumps(values))
    with pytest.raises(RunError, match=f"lacks {name}; another version of countmorl wrote it"):
        Manifest.read(path)
