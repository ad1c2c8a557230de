"""A module imports only from its own level or lower ones."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import countmorl

ROOT = Path(countmorl.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# The longest prefix that matches a module decides. A whole number is a level of the house, the
# digits behind the point are the floors within it.
LEVELS = {
    "errors": 0,
    "extras": 0,
    "types": 0,
    "disk": 0,
    "json_files": 0,
    "toml_files": 0,
    "files": 0,
    "configs": 0,
    "trees": 0,
    "progress": 0,
    "nets": 1,
    "scaling": 1,
    "spaces": 1,
    "schema": 1,
    "loggers": 1,
    "fitting": 2,
    "runtime": 1.1,
    "runs": 2,
    "envs": 2,
    "data": 3,
    "data.readers": 3.1,
    "data.tables": 3.1,
    "data.sources": 3.2,
    "data.pairs": 3.3,
    "data.check": 3.3,
    "data.batches": 3.3,
    "dynamics": 4,
    "counting": 5,
    "pessimism": 6,
    "rollouts": 6.1,
    "buffer": 6,
    "tabular": 6,
    "agents": 7,
    "algorithms": 8,
    "evaluation.base": 2,
    "training": 9,
    "evaluation": 10,
    "api": 10.1,
    "export": 10.2,
    "monitoring": 10.1,
    "collecting": 10.1,
    "coverage": 10.1,
    "coverage.figure": 11.1,
    "guarding": 10.2,
    "guarding.figure": 11.1,
    "studies": 10.2,
    "machine": 0,
    "threads": 0,
    "sweeps": 11,
    "reports": 11,
    "serving": 10.2,
    "asking": 12,
    "automatic": 12,
    "demo": 12,
    "doctor": 12,
    "cli": 13,
}
PUBLIC = 14
"""`countmorl/__init__.py` may name anything; nothing inside may import from it."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path) for path in FILES}


def level(module: str) -> float | None:
    """Level of a module, named without the leading `countmorl.`; `None` where it has none."""
    if module == "":
        return PUBLIC
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        found = LEVELS.get(".".join(parts[:length]))
        if found is not None:
            return found
    return None


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module (without `countmorl.`) of each import of ours, wherever it stands."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package[: len(package) - node.level + 1]
                base = ".".join(["countmorl", *filter(None, above), *([base] if base else [])])
            # `from countmorl.cli import data` names a module, `from countmorl.cli import main` not.
            whole = [f"{base}.{alias.name}" for alias in node.names]
            names = [n if n.removeprefix("countmorl.") in MODULES else base for n in whole]
        else:
            continue
        for name in names:
            if name == "countmorl" or name.startswith("countmorl."):
                yield node.lineno, name.removeprefix("countmorl").lstrip(".")


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_point_down(path):
    module = module_name(path)
    own = level(module)
    assert own is not None, (
        f"{module} has no level. Add it to LEVELS in tests/test_layers.py, above everything it "
        "imports and below everything that imports it."
    )
    for line, name in imported(path):
        other = level(name)
        assert other is not None, f"{path}:{line} imports {name}, which has no level in LEVELS."
        assert other <= own, (
            f"{path}:{line}: {module or 'countmorl'} (level {own:g}) imports "
            f"{name or 'countmorl'} (level {other:g}). Imports point down: move the shared part to "
            "a lower level, or hand the value in as an argument."
        )


def test_the_import_parser_sees_every_form(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "data" / "hdf5.py"
    path.parent.mkdir()
    path.write_text(
        "import countmorl\n"
        "import countmorl.files as f, os\n"
        "from countmorl import trees\n"
        "from countmorl.cli import data, main\n"
        "from . import dataset\n"
        "from .fields import Fields\n"
        "from ..errors import DataError\n"
        "def f():\n    from countmorl.training.train import train\n"
    )
    assert list(imported(path)) == [
        (1, ""),
        (2, "files"),
        (3, "trees"),
        (4, "cli.data"),
        (4, "cli"),
        (5, "data.dataset"),
        (6, "data.fields"),
        (7, "errors"),
        (9, "training.train"),
    ]


def test_levels_are_decided_by_the_longest_prefix():
    assert level("envs.tasks") == 2
    assert level("data.dataset") == 3
    assert level("data.sources") == 3.2
    assert level("") == PUBLIC
    assert level("surprise.party") is None


def test_every_level_is_of_a_room_that_exists():
    assert set(LEVELS) <= MODULES


def test_reports_read_runs_and_nothing_higher():
    for path in FILES:
        if module_name(path).startswith("reports"):
            used = {name for _, name in imported(path) if not name.startswith("reports")}
            assert all(level(name) <= 2 for name in used), used


def test_no_file_runs_code_that_it_loads():
    unsafe = {"pickle", "dill", "joblib", "cloudpickle", "shelve", "marshal"}
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                roots = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                roots = {(node.module or "").split(".")[0]}
            else:
                continue
            assert not roots & unsafe, f"{path}:{node.lineno} imports {roots & unsafe}"
        assert not re.search(r"allow_pickle\s*=\s*True", text), f"{path} allows pickle"


def test_a_policy_needs_no_jax():
    program = (
        "import sys, countmorl; countmorl.Policy; "
        "heavy = {'jax', 'equinox', 'optax', 'gymnasium', 'h5py'} & set(sys.modules); "
        "print(sorted(heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")
