import pytest

from countmorl.algorithms import ALGORITHMS, ALONE, algorithm_name, find_algorithm
from countmorl.algorithms.bc import BC
from countmorl.errors import ConfigError

MINE = """
from dataclasses import dataclass
from typing import ClassVar

from countmorl.algorithms.bc import BC


@dataclass(frozen=True, kw_only=True)
class Mine(BC):
    \"\"\"Mine: a clone.\"\"\"

    paper: ClassVar[str] = "none"
"""


def test_names_lead_to_classes_and_back():
    for name, cls in (ALGORITHMS | ALONE).items():
        assert find_algorithm(name) is cls
        assert algorithm_name(cls()) == name


def test_a_method_of_ones_own_is_found_in_the_current_folder(tmp_path):
    (tmp_path / "my_method.py").write_text(MINE)  # Every test has a folder of its own.
    found = find_algorithm("my_method:Mine")
    assert issubclass(found, BC)
    assert algorithm_name(found()) == "my_method:Mine"


@pytest.mark.parametrize("name", ["no_such_module:Mine", "math:Mine", ".x:Mine", ":Mine"])
def test_what_cannot_be_imported_is_a_sentence(name):
    with pytest.raises(ConfigError, match="could not be imported"):
        find_algorithm(name)


def test_what_is_no_method_is_refused(unchecked):
    with pytest.raises(ConfigError, match="is not a method"):
        find_algorithm("math:pi")
    with pytest.raises(ConfigError, match=r"BC\(\), with brackets"):
        algorithm_name(BC)  # type: ignore[arg-type]
