"""What was chosen, kept in a run."""

import pytest

from countmorl.errors import RunError
from countmorl.runs.choice import CHOICE_FILE, Chosen


def test_it_is_read_as_it_was_written(tmp_path):
    assert Chosen.read(tmp_path) is None
    chosen = Chosen(policies=3, taken=True, epoch=20, log_return=1.5, sentence="take it.")
    chosen.write(tmp_path)
    assert Chosen.read(tmp_path) == chosen


@pytest.mark.parametrize("text", ["{", "[]", '{"policies": "many"}'])
def test_what_is_damaged_is_a_sentence(tmp_path, text):
    (tmp_path / CHOICE_FILE).write_text(text)
    with pytest.raises(RunError, match=r"choice\.json"):
        Chosen.read(tmp_path)
