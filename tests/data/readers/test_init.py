import numpy as np
import pytest

from countmorl import load
from countmorl.data.readers import PREFIXES, READERS, WRITERS


def test_what_is_written_can_be_read():
    assert set(WRITERS) <= set(READERS)
    assert "minari:" in PREFIXES


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_dataset_back(log, tmp_path, ending):
    dataset = load(log())
    WRITERS[ending](dataset, tmp_path / f"log{ending}")
    assert load(tmp_path / f"log{ending}").hash == dataset.hash


def test_a_new_reader_is_a_row(tmp_path, monkeypatch, log):
    from countmorl.data.readers.mapping import read_mapping

    monkeypatch.setitem(READERS, ".mine", lambda path, *, options: read_mapping(log()))
    (tmp_path / "x.mine").touch()
    np.testing.assert_array_equal(load(tmp_path / "x.mine").obs, load(log()).obs)
