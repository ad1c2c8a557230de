import numpy as np
import pytest

from countmorl.errors import RunError
from countmorl.files import read_arrays, write_arrays
from countmorl.monitoring.baseline import Baseline
from countmorl.monitoring.training import made_of
from monitored import dataset


@pytest.fixture
def saved(tmp_path):
    data = dataset()
    made = made_of(data, np.arange(60) < 6)
    made.save(tmp_path / "b.safetensors")
    return tmp_path / "b.safetensors", made


def test_what_is_saved_comes_back(saved):
    path, made = saved
    found = Baseline.load(path)
    assert found.form == made.form or vars(found.form) == vars(made.form)
    assert found.origin == made.origin
    assert found.columns == made.columns
    assert np.array_equal(found.pool.reference, made.pool.reference)
    assert np.array_equal(found.high, made.high)
    for name, array in made.foretold.arrays.items():
        assert np.array_equal(found.foretold.arrays[name], array)


def of(name, change):
    """One array, changed."""
    return lambda arrays, _: arrays.update({name: change(arrays[name])})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda arrays, meta: meta.update(kind="policy"), "is no baseline"),
        (lambda arrays, meta: meta.update(format=9), "is no baseline"),
        (lambda arrays, meta: arrays.pop("low"), "not a complete baseline"),
        (lambda arrays, meta: meta.pop("origin"), "not a complete baseline"),
        (lambda arrays, meta: meta.update(sizes="x"), "not a complete baseline"),
        (lambda arrays, meta: arrays.update(low=np.zeros(2)), "`low` has the shape"),
        (lambda arrays, meta: arrays.update(aside=np.zeros(3, bool)), "`aside` has the shape"),
        (lambda arrays, meta: meta.update(spread=0.0), "do not fit together"),
        (lambda arrays, meta: meta["origin"].update(episodes=2**63), "do not fit together"),
        (lambda arrays, meta: meta.update(sizes=[2**62, 1]), "but foretells others"),
        (of("foretold.scale", lambda a: a[:1]), "`foretold.scale` is not"),
        (of("foretold.spin", lambda a: a[:-1]), "`foretold.spin` is not"),
        (of("foretold.coefficients", lambda a: np.nan * a), "`foretold.coefficients` is not"),
        (of("foretold.std", lambda a: 0 * a), "a scale of 0"),
        (of("tally.reward", lambda a: a[:, None]), "`tally.reward` has the shape"),
        (of("tally.below", lambda a: a + 10**6), "more rows than there are"),
        (of("edges.at", lambda a: a[::-1]), "no edges in order"),
        (of("edges.at", lambda a: np.inf * a), "edges are not in order"),
        (
            lambda arrays, meta: arrays.update(
                {"edges.column": np.full_like(arrays["edges.column"], 99)}
            ),
            "columns that there are not",
        ),
        (
            lambda arrays, meta: arrays.update(
                {"tally.known": np.zeros_like(arrays["tally.known"])}
            ),
            "episodes without rows",
        ),
    ],
)
def test_forged_files_end_in_a_sentence(saved, change, said):
    path, _ = saved
    arrays, meta = read_arrays(path)
    change(arrays, meta)
    write_arrays(path, arrays, meta)
    with pytest.raises(RunError, match=said):
        Baseline.load(path)


def test_a_damaged_file_ends_in_a_sentence(saved):
    path, _ = saved
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RunError, match="not a readable"):
        Baseline.load(path)
