"""The public names."""

import importlib

import pytest

import countmorl


@pytest.mark.parametrize("name", dir(countmorl))
def test_every_public_name_is_what_its_home_says(name):
    home = importlib.import_module(f"countmorl.{countmorl._HOMES[name]}")
    assert getattr(countmorl, name) is getattr(home, name)


def test_names_for_type_checkers_are_the_names_at_run_time():
    import ast
    from pathlib import Path

    tree = ast.parse(Path(countmorl.__file__).read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    names = {alias.name for node in guarded.body for alias in node.names}
    homes = {
        alias.name: node.module.removeprefix("countmorl.")
        for node in guarded.body
        for alias in node.names
    }
    assert names == set(dir(countmorl))
    assert homes == countmorl._HOMES


def test_dir_lists_the_public_names_and_no_more_than_a_screenful():
    assert set(countmorl._HOMES) == set(dir(countmorl))
    assert len(dir(countmorl)) <= 40


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        countmorl.trian  # noqa: B018


def test_every_algorithm_is_public():
    assert {cls.__name__ for cls in countmorl.ALGORITHMS.values()} <= set(dir(countmorl))
