import importlib.metadata
import json
import re
import sys

import pytest

from countmorl.errors import MissingExtraError
from countmorl.extras import EXTRAS, installed, require


def test_an_installed_package_is_imported():
    assert require("json") is json
    assert require("json.decoder") is json.decoder


@pytest.mark.parametrize("module", sorted(EXTRAS))
def test_a_missing_package_is_named_with_its_extra(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        require(module)
    assert f"'{module}'" in str(caught.value)
    assert f'pip install "countmorl[{EXTRAS[module]}]"' in str(caught.value)


@pytest.mark.parametrize("extra", sorted(set(EXTRAS.values())))
def test_every_extra_that_is_named_exists(extra):
    assert extra in importlib.metadata.metadata("countmorl").get_all("Provides-Extra")


@pytest.mark.parametrize("module", sorted(EXTRAS))
def test_the_extra_brings_the_package(module):
    requirements = importlib.metadata.requires("countmorl") or []
    lines = [line for line in requirements if re.search(rf"extra == .{EXTRAS[module]}\b", line)]
    brought = re.findall(r"[a-z][a-z0-9]*", " ".join(line.split(";")[0].lower() for line in lines))
    assert module.lower() in brought or module in "_".join(brought)


def test_installed_does_not_import():
    sys.modules.pop("antigravity", None)
    assert installed("antigravity")
    assert "antigravity" not in sys.modules
    assert not installed("no_such_package_anywhere")
