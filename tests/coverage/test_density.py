"""How dense logs are."""

import numpy as np
import pytest

from countmorl import train
from countmorl.coverage.density import density_of_codes, density_of_data
from countmorl.data.holdout import split
from countmorl.evaluation.parts import dataset_of
from countmorl.runtime.counts import Counts
from small_runs import QUIET, small, vector_log
from worlds import chain_log, linear_log


def test_of_a_finite_world_equal_pairs_are_counted():
    data = chain_log(30)
    density, near = density_of_data(data)
    pairs = np.concatenate([data.obs, data.action], axis=1)
    distinct = len(np.unique(pairs, axis=0))
    assert (density.counted_by, density.places, near) == ("pairs", distinct, None)
    assert density.rows_per_place == pytest.approx(len(data) / distinct)
    assert density.shares["unseen"] == 0
    assert not density.held_out


def test_of_numbers_neighbours_are_counted():
    density, near = density_of_data(linear_log(60))
    assert density.counted_by == "neighbours"
    assert near is not None
    assert density.held_out
    assert density.probed == 180
    assert density.rows == 1800
    assert density.shares["unseen"] < 0.05
    assert sum(density.shares.values()) == pytest.approx(1)
    assert list(density.quantiles.values()) == sorted(density.quantiles.values())


def test_of_a_run_its_codes_are_counted(tmp_path):
    run = train(small("count-morl", epochs=1), vector_log(), out=tmp_path / "run", **QUIET)
    counts = Counts.of_run(run.path)
    data = dataset_of(run, data=vector_log())
    taught, judged = split(data, run.manifest.data.holdout)
    density = density_of_codes(taught, judged, counts)
    assert density.counted_by == "codes"
    sizes = sorted(len(table) for table in counts.tables.each)
    assert density.places == sizes[len(sizes) // 2]
    assert density.as_dict()["rows"] == len(taught)
