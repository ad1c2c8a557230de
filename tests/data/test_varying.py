import numpy as np

from countmorl.data.varying import varying_within


def test_shares_of_the_variance_by_hand():
    # Two episodes of two rows. The first column varies within them alone, the second tells them
    # apart and no more, the third does both: its deviations are -2, 0, 0, 2, of which the
    # episodes' means take -1, -1, 1, 1, so half of the variance lies within.
    obs = np.float32([[-1, 5, 0], [1, 5, 2], [-1, 9, 2], [1, 9, 4]])
    np.testing.assert_allclose(varying_within(obs, np.array([1, 3])), [1, 0, 0.5])


def test_units_of_powers_of_two_change_nothing():
    obs = np.random.default_rng(0).normal(size=(60, 3)).cumsum(axis=0).astype(np.float32)
    ends = np.array([9, 29, 59])
    scaled = obs * np.float32([1024, 0.125, 1])
    np.testing.assert_array_equal(varying_within(obs, ends), varying_within(scaled, ends))


def test_where_nothing_varies_within_episodes_all_columns_are_alike():
    single_rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(varying_within(single_rows, np.arange(4)), [1, 1])
    still = np.full((4, 2), 0.1, np.float32)
    np.testing.assert_array_equal(varying_within(still, np.array([1, 3])), [1, 1])


def test_a_column_that_never_changes_counts_for_nothing_beside_one_that_does():
    obs = np.stack([np.full(6, 0.1), np.arange(6)], axis=1).astype(np.float32)
    assert varying_within(obs, np.array([2, 5]))[0] == 0
