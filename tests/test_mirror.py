"""Tests stand where what they test stands: one file per module, and no other in its rooms."""

import ast
from pathlib import Path

import pytest

import countmorl

SRC, TESTS = Path(countmorl.__file__).parent, Path(__file__).parent


def holds_code(path: Path) -> bool:
    """Whether there is more in a file than a docstring."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return any(not isinstance(node, ast.Expr) for node in body)


def twin(module: Path) -> Path:
    """Where a module's tests stand, below tests/."""
    return module.with_name(f"test_{module.stem.strip('_')}.py")


MODULES = [
    path.relative_to(SRC)
    for path in sorted(SRC.rglob("*.py"))
    if path.name != "__init__.py" or holds_code(path)
]
ROOMS = {module.parts[0] for module in MODULES if len(module.parts) > 1}
ATTACKS = "robustness"
"""Tests of no module: hostile files, failing disks, several processes."""


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_its_tests(module):
    assert (TESTS / twin(module)).exists(), f"{module} has no tests/{twin(module)}."


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_every_test_file_of_a_room_has_its_module(room):
    written = {path.relative_to(TESTS) for path in (TESTS / room).rglob("test_*.py")}
    alone = written - {twin(module) for module in MODULES}
    assert not alone, f"No module has these tests: {', '.join(sorted(map(str, alone)))}."


def test_every_folder_of_tests_is_a_room():
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")}
    assert folders <= ROOMS | {ATTACKS}


def test_twins_by_hand():
    assert twin(Path("cli/train.py")) == Path("cli/test_train.py")
    assert twin(Path("data/readers/__init__.py")) == Path("data/readers/test_init.py")
    assert twin(Path("__init__.py")) == Path("test_init.py")
