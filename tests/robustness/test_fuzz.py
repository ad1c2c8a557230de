"""Damaged files of every format, in a bounded number; `make fuzz` goes on for longer."""

import pytest

from robustness.formats import FORMATS
from robustness.fuzz import CORPUS, attack, outcome

FILES = 60
"""Damaged files of each format in the suite."""


# Users have no checked annotations that would stop what is wrong.
pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_ends_in_a_sentence_or_a_right_answer(name, tmp_path):
    form = FORMATS[name]
    seeds = range(FILES // 20 if form.slow else FILES)
    failures = [f"seed {seed}: {said}" for seed, _, said in attack(form, tmp_path, seeds)]
    assert not failures


@pytest.mark.parametrize(
    "file", sorted(CORPUS.glob("*/*")), ids=lambda file: f"{file.parent.name}-{file.name}"
)
def test_what_once_failed_fails_no_more(file, tmp_path):
    form = FORMATS[file.parent.name]
    path = form.make(tmp_path)
    path.write_bytes(file.read_bytes())
    assert outcome(form, path) is None
