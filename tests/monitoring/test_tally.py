import numpy as np

from countmorl.monitoring.tally import Edges, Tally, starts_of
from countmorl.monitoring.watched import Column

COLUMNS = (Column(name="x", part="seen"), Column(name="count", part="counted"))
EDGES = Edges(at=np.array([1.0, 2.0, 0.0]), column=np.array([0, 0, 1]))


def test_sums_by_hand():
    values = np.array([[0.5, 0.0], [1.0, 3.0], [2.5, np.nan], [1.5, 0.0]])
    tally = Tally.of(values, np.array([0, 3]), EDGES, np.array([1.0, 2.0, 3.0, 4.0]))
    assert tally.below.tolist() == [[2, 2, 1], [0, 1, 1]]
    assert tally.known.tolist() == [[3, 2], [1, 1]]
    assert tally.reward.tolist() == [6, 4]
    assert tally.rows.tolist() == [3, 1]
    assert tally.whole.below.tolist() == [[2, 3, 2]]
    twice = tally.before(tally)
    assert twice.known.tolist() == [[3, 2], [1, 1]] * 2
    assert twice.joined(np.array([0, 1, 3])).known.tolist() == [[3, 2], [4, 3], [1, 1]]
    assert tally.some(np.array([1, 1])).reward.tolist() == [4, 4]


def test_edges_are_quantiles_and_counts_begin_with_never():
    values = np.stack([np.arange(1000.0), np.full(1000, 7.0)], axis=1)
    edges = Edges.of(values, COLUMNS)
    own = edges.at[edges.column == 0]
    assert own[0] == 9
    assert own[-1] == 989
    assert len(own) == 13
    assert edges.at[edges.column == 1].tolist() == [0]  # All lie at 7, and none below.


def test_a_constant_column_keeps_one_edge_and_one_of_two_values_the_lower():
    values = np.array([[5.0, 0.0]] * 10 + [[5.0, 1.0]] * 10)
    edges = Edges.of(values, (COLUMNS[0], Column(name="b", part="seen")))
    assert edges.at.tolist() == [5, 0]


def test_starts_of_episodes():
    assert starts_of(np.array([3, 3, 4, 6, 6])).tolist() == [0, 2, 3]
    assert len(starts_of(np.empty(0, np.int64))) == 0
