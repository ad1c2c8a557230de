"""Polars is imported where tables are read, and nowhere else."""

import subprocess
import sys

import pytest

from countmorl.data.tables import engine
from countmorl.errors import DataError, MissingExtraError
from countmorl.extras import require


def test_versions_that_lose_rows_are_refused():
    with pytest.raises(MissingExtraError, match=r"1\.37\.1 or later, got 1\.36\.1"):
        engine.check_version("1.36.1")
    for version in ("1.37.1", "1.38.0rc1", "2.1.0"):
        engine.check_version(version)


def test_it_is_polars():
    assert engine.pl is require("polars")


@pytest.mark.parametrize("words", ["import countmorl.cli.data", "import countmorl; countmorl.load"])
def test_nothing_else_imports_polars_or_jax(words):
    program = f"import sys; {words}; print({{'polars', 'jax'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("set()", "")


def test_reading_tables_needs_no_jax():
    program = "import sys, countmorl; countmorl.from_table; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_what_polars_gives_up_on_is_a_sentence():
    with pytest.raises(DataError, match="cannot be read: it is damaged"), engine.explained_panic():
        raise engine.pl.exceptions.PanicException("called unwrap")
