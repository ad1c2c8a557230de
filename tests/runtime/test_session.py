"""A session remembers one episode: what it shows the policy is what the log would have held."""

import numpy as np
import pytest

from countmorl.errors import DataError
from countmorl.runtime.rows import Rows
from countmorl.runtime.session import Session
from countmorl.schema import Column, Schema

DOSE = Column(name="dose", fill=0.5)
X = Column(name="x")
OFFER = Column(name="offer", kind="category", values=("none", "mail"))


class Watched:
    """Stands for a policy: keeps what it was shown and answers as it was told."""

    def __init__(self, *answers):
        self.answers, self.shown = list(answers), []

    def __call__(self, obs, *, rng=None):
        self.shown.append(np.asarray(obs).tolist())
        return self.answers.pop(0) if self.answers else np.zeros(1, np.float32)


def begin(*answers, action=(DOSE,), obs=(X,), history=3):
    watched = Watched(*answers)
    schema = Schema(obs=obs, action=action, history=history, time="t")
    return watched, Session(watched, Rows(schema))


def dose(value):
    return np.array([value], np.float32)


class TestHistory:
    def test_by_hand(self):
        watched, session = begin(dose(7), dose(8), dose(9))
        for x in (1, 2, 3, 4):
            session.act_row({"x": x})
        assert watched.shown == [
            [1, 1, 0.5, 1, 0.5],
            [2, 1, 7, 1, 0.5],
            [3, 2, 8, 1, 7],
            [4, 3, 9, 2, 8],
        ]

    def test_discrete_actions_are_one_hot_and_nothing_before_the_first(self):
        watched, session = begin(*np.array([1, 0, 0]), action=(OFFER,), history=2)
        assert session.act_row({"x": 1}) == "mail"
        assert session.act({"x": 2}) == 0
        session.act([3])
        assert watched.shown == [[1, 1, 0, 0], [2, 1, 0, 1], [3, 2, 1, 0]]

    def test_what_was_really_done_is_remembered(self):
        watched, session = begin(dose(7), dose(8), history=2)
        assert session.act_row({"x": 1}) == {"dose": 7.0}
        session.executed({"dose": 1.5})
        session.executed([2.5])  # Said again: the last word counts.
        session.act_row({"x": 2})
        session.act_row({"x": 3})
        assert watched.shown[1:] == [[2, 1, 2.5], [3, 2, 8]]

    def test_arrays_may_be_used_again(self):
        advice, obs, said = dose(7), np.ones(1, np.float32), dose(3)
        watched, session = begin(advice, history=2)
        session.act(obs)
        obs[0], advice[0] = 2, 99
        session.act(obs)
        session.executed(said)
        said[0] = 99
        session.act([4])
        assert watched.shown == [[1, 1, 0.5], [2, 1, 7], [4, 2, 3]]

    def test_replaying_an_episode_gives_the_logs_own_observations(self):
        rng = np.random.default_rng(0)
        seen = rng.standard_normal((9, 2)).astype(np.float32)
        done = rng.uniform(0, 2, (9, 1)).astype(np.float32)
        watched, session = begin(obs=(X, Column(name="y")), history=3)
        for (x, y), action in zip(seen, done, strict=True):
            session.act_row({"x": x, "y": y})
            session.executed(action)
        np.testing.assert_array_equal(watched.shown, stacked(seen, done, np.array([0.5]), 3))

    def test_no_history_no_past(self):
        watched, session = begin(history=1)
        session.act_row({"x": 1})
        session.act([2])
        assert watched.shown == [[1], [2]]


def stacked(seen, done, fill, history):
    """Observations with history by their definition: at lag k row t - k, or the first."""
    rows = []
    for t in range(len(seen)):
        parts = [seen[t]]
        for lag in range(1, history):
            parts += [seen[max(t - lag, 0)], done[t - lag] if t >= lag else fill]
        rows.append(np.concatenate(parts))
    return np.array(rows)


class TestMemory:
    CARRY = (Column(name="x", missing="carry"), Column(name="t", kind="elapsed"))

    def test_values_and_time(self):
        watched, session = begin(obs=self.CARRY, history=1)
        session.act_row({"x": 3, "t": "2024-01-01T10:00"})
        session.act_row({"x": None, "t": "2024-01-01T12:00"})
        assert watched.shown == [[3, 0], [3, 2]]

    def test_a_refused_row_changes_nothing(self):
        watched, session = begin(dose(7), obs=self.CARRY, history=2)
        with pytest.raises(DataError):
            session.act_row({"x": None, "t": "2024-01-01T08:00"})
        session.act_row({"x": 3, "t": "2024-01-01T10:00"})
        with pytest.raises(DataError):
            session.act_row({"x": 4, "t": "2024-01-01T09:00"})
        session.act_row({"x": None, "t": "2024-01-01T11:00"})
        assert watched.shown == [[3, 0, 3, 0, 0.5], [3, 1, 3, 0, 7]]

    def test_rows_between_steps(self):
        """Values are carried from them, and the clock begins with the first; no step is made."""
        watched, session = begin(dose(7), dose(8), obs=self.CARRY, history=2)
        session.see({"x": 1, "t": "2024-01-01T09:00"})
        session.act_row({"x": None, "t": "2024-01-01T10:00"})
        session.see({"x": 5, "t": "2024-01-01T11:00"})
        session.act_row({"x": None, "t": "2024-01-01T12:00"})
        assert watched.shown == [[1, 1, 1, 1, 0.5], [5, 3, 1, 1, 7]]

    def test_numbers_are_carried_on_by_rows(self):
        watched, session = begin(obs=self.CARRY[:1], history=1)
        session.act([5])
        session.act_row({"x": None})
        assert watched.shown == [[5], [5]]

    def test_who_began_with_numbers_does_not_know_when(self):
        _, session = begin(obs=self.CARRY, history=1)
        session.act([5, 0])
        with pytest.raises(DataError, match="this session began with numbers"):
            session.act_row({"x": 5, "t": 3})


class TestRefused:
    @pytest.mark.parametrize("obs", [[1, 2], [[1]], [np.nan], []])
    def test_other_numbers_than_the_present(self, obs):
        with pytest.raises(
            DataError,
            match=r"the 1 finite numbers that are seen at one time|must be finite numbers",
        ):
            begin()[1].act(obs)

    def test_nothing_was_advised(self):
        with pytest.raises(DataError, match="Nothing has been advised yet"):
            begin()[1].executed([1])

    def test_an_action_that_is_none(self):
        _, session = begin(np.int64(0), action=(OFFER,))
        session.act_row({"x": 1})
        with pytest.raises(DataError, match="Did you mean 'mail'"):
            session.executed("mial")


def test_without_a_schema_no_row_is_seen():
    with pytest.raises(DataError, match="had no names of columns"):
        Session(Watched(), None).see({"x": 1})


def test_without_a_schema_it_acts_as_the_policy():
    watched = Watched()
    session = Session(watched, None)
    session.act([1, 2])
    session.executed([3])
    assert watched.shown == [[1, 2]]
    with pytest.raises(DataError, match="had no names of columns, so it cannot read rows"):
        session.act_row({"x": 1})
