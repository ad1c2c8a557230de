"""One file that loads a bundle where nothing of ours is installed, nor anything but NumPy."""

import ast
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from bundles import HISTORY, made, parts_of
from countmorl.errors import RunError
from countmorl.export import single
from countmorl.export.single import single_file
from countmorl.runtime.bundle import load_bundle

BLOCKED = ("countmorl", "jax", "jaxtyping", "safetensors", "scipy", "equinox", "polars")
PROGRAM = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {BLOCKED!r}:
            raise ImportError(name + " is not there")
sys.meta_path.insert(0, Blocked())
sys.path.insert(0, sys.argv[1])
import json, runtime
bundle = runtime.load(sys.argv[1])
session = bundle.session()
answers = [session.act_row(row) for row in json.loads(sys.argv[2])]
try:
    session.act_row({{"glucose": "high", "ward": "A"}})
except runtime.DataError as error:
    refused = str(error)
print(json.dumps([[[a, w.count, w.level] for a, w in answers], refused]))
"""
ROWS = [{"glucose": 141, "ward": "ICU"}, {"glucose": 150, "ward": "A"}]


def alone(*arguments, folder):
    done = subprocess.run(
        [sys.executable, "-I", *arguments], capture_output=True, text=True, cwd=folder, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("single") / "bundle"
    made(where, schema=HISTORY)
    return where


def test_numpy_alone_gives_the_same_answers(folder, tmp_path):
    code, out, err = alone("-c", PROGRAM, str(folder), json.dumps(ROWS), folder=tmp_path)
    assert (code, err) == (0, "")
    answers, refused = json.loads(out)
    session = load_bundle(folder).session()
    for row, (action, count, level) in zip(ROWS, answers, strict=True):
        wanted, why = session.act_row(row)
        assert (action, count, level) == (wanted, why.count, why.level)
    assert refused == "'glucose' must be a number, got 'high'."


def test_the_command_line_of_the_file(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    obs = np.round(parts_of(schema=HISTORY)[2][0], 3).tolist()
    code, out, err = alone("runtime.py", json.dumps(obs), folder=copy)
    assert (code, err) == (0, "")
    assert json.loads(out)["level"] in ("covered", "thin", "unseen")
    for asked in ("[1, 2]", "{not json", "null", json.dumps(ROWS[0])):
        code, out, err = alone("runtime.py", asked, folder=copy)
        assert (code, out) == (2, "")
        assert "Traceback" not in err


def test_only_the_standard_library_and_numpy_are_imported():
    text = single_file("1.2.3")
    assert "version 1.2.3" in text
    roots = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            roots |= {each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").split(".")[0])
    # `ActionSpace.of` asks for an extra, which nobody does here.
    assert roots - {"countmorl"} <= {*sys.stdlib_module_names, "numpy"}


def two(monkeypatch, first, second):
    texts = {"errors": first, "disk": second}
    monkeypatch.setattr(single, "MODULES", tuple(texts))
    monkeypatch.setattr(single, "_source", texts.__getitem__)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("A = 1", "def A(): ..."),
        ("import json", "from other import json"),
        ("import json", "json = 1"),
        ("A, B = 1, 2", "B: int = 2"),
        ("from countmorl.files import Arrays as A", ""),
    ],
)
def test_names_that_would_hide_each_other(monkeypatch, first, second):
    two(monkeypatch, first, second)
    with pytest.raises(RunError):
        single_file("1")


def test_modules_follow_each_other(monkeypatch):
    two(
        monkeypatch,
        '"""Text."""\nimport os\nA = 1  # why\n',
        "from countmorl.errors import A\nB = A\n",
    )
    text = single_file("1")
    assert "import os\n" in text
    assert text.index("A = 1  # why") < text.index("B = A")
    assert "from countmorl." not in text
