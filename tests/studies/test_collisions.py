import numpy as np

from countmorl.studies.collisions import codes_needed, find_collisions, spoils


def test_pairs_with_one_code_are_grouped():
    words = np.array([[7], [3], [7], [5], [3], [7]], np.uint32)
    assert find_collisions(words) == ((0, 2, 5), (1, 4))


def test_codes_of_two_words_are_compared_whole():
    words = np.array([[1, 2], [1, 3], [1, 2]], np.uint32)
    assert find_collisions(words) == ((0, 2),)
    assert find_collisions(words[:2]) == ()


def test_unlogged_pairs_may_share_a_code():
    groups = ((0, 1), (2, 3))
    assert spoils(groups, np.array([0, 0, 0, 4])) == ((2, 3),)


def test_unlogged_pairs_need_one_code_together():
    assert codes_needed(np.array([3, 1, 0, 0])) == 3
    assert codes_needed(np.array([3, 1])) == 2
