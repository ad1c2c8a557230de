"""The whole way: hand-worked tables, every format, any order, any size of batch."""

import datetime as dt
import re
from typing import ClassVar

import h5py
import numpy as np
import polars as pl
import pytest

import countmorl
from countmorl.data.tables import encode, output, survey
from countmorl.data.tables.importing import complete, from_table, import_arrays, import_file
from countmorl.data.tables.request import Request, request_of
from countmorl.errors import ConfigError, CountMorlError, DataError
from countmorl.schema import Column, Schema

CLINIC = pl.DataFrame(
    {
        "patient": ["a", "a", "a", "b", "b"],
        "visit": [
            *("2024-01-01 10:00", "2024-01-01 12:00", "2024-01-01 16:30"),
            *("2024-02-01 00:00", "2024-02-02 00:00"),
        ],
        "lab_1": [1.0, None, 3.0, 4.0, 5.0],
        "lab_2": [1, 2, 3, 4, 5],
        "ward": ["x", "y", "x", "z", "y"],
        "dose": [0.1, 0.2, 0.3, 0.4, 0.5],
        "score": [1.0, 2.0, 3.0, 4.0, 5.0],
        "died": [False, False, True, False, False],
    }
)
ASKED = {
    "obs": ["lab_*", "ward", "visit", "double = lab_2 * 2"],
    "action": "dose",
    "reward": "score + 0.5 * abs(lab_2 - 3)",
    "episode": "patient",
    "time": "visit",
    "terminated": "died",
    "missing": "lab_1=carry",
}


def random_log(rows=500):
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(rows // 10), 10)
    start = dt.datetime(2024, 1, 1)
    return pl.DataFrame(
        {
            "id": ids,
            "t": [start + dt.timedelta(hours=7.3 * i) for i in range(rows)],
            "x": rng.normal(size=rows),
            "y": [None if r < 0.2 and i % 10 else r for i, r in enumerate(rng.random(rows))],
            "z": [None if r < 0.1 else r for r in rng.random(rows)],
            "w": rng.choice(["low", "mid", "high"], rows),
            "a": rng.choice(["left", "right"], rows),
            "r": rng.normal(size=rows),
            "d": (rng.random(rows) < 0.5) & (np.arange(rows) % 10 == 9),
        }
    )


LONG = {
    "obs": ["x", "y", "z", "w", "t", "rise = x - lag(x)"],
    "action": "a",
    "reward": "r",
    "episode": "id",
    "time": "t",
    "terminated": "d",
    "missing": ["y=carry", "rise=0", "z=median"],
    "history": 3,
    "frame_skip": 2,
}


class TestByHand:
    def test_the_clinic(self):
        dataset = countmorl.from_table(CLINIC, **ASKED)
        assert dataset.obs_names == (
            *("lab_1", "lab_2", "ward=x", "ward=y", "ward=z", "visit", "double"),
        )
        assert dataset.obs.tolist() == [
            [1, 1, 1, 0, 0, 0, 2],
            [1, 2, 0, 1, 0, 2, 4],
            [3, 3, 1, 0, 0, 6.5, 6],
            [4, 4, 0, 0, 1, 0, 8],
            [5, 5, 0, 1, 0, 24, 10],
        ]
        assert dataset.reward.tolist() == [2, 2.5, 3, 4.5, 6]
        assert dataset.terminated.tolist() == [False, False, True, False, False]
        assert dataset.truncated.tolist() == [False, False, False, False, True]
        assert dataset.next_known.tolist() == [True, True, False, True, False]
        assert dataset.next_obs[0].tolist() == dataset.obs[1].tolist()
        np.testing.assert_allclose(dataset.space.low, [0.1])

    def test_an_endless_stream(self):
        frame = CLINIC.drop("patient")
        dataset = countmorl.from_table(frame, obs="lab_2", action="dose", reward="score")
        assert dataset.episode_ends.tolist() == [4]
        assert not dataset.terminated.any()
        assert dataset.truncated.tolist() == [False] * 4 + [True]

    def test_gaps(self):
        asked = {"obs": "lab_2", "action": "dose", "reward": "score", "time": "visit"}
        assert len(countmorl.from_table(CLINIC, **asked, gap="3h").episode_ends) == 4
        assert len(countmorl.from_table(CLINIC, **asked, gap="1d").episode_ends) == 2
        asked["time"] = "lab_2"
        assert len(countmorl.from_table(CLINIC, **asked, gap=0.5).episode_ends) == 5

    def test_a_flag(self):
        asked = {"obs": "lab_2", "action": "dose", "reward": "score"}
        dataset = countmorl.from_table(CLINIC, **asked, flag="lab_2 IN (1, 3)")
        assert dataset.episode_ends.tolist() == [1, 4]

    def test_rewards_that_come_at_the_end(self):
        late = CLINIC.with_columns(score=pl.Series([None, None, 1.0, None, -1.0]))
        asked = ASKED | {"reward": "score", "missing": ["lab_1=0", "reward=0"]}
        assert countmorl.from_table(late, **asked).reward.tolist() == [0, 0, 1, 0, -1]

    def test_changes_of_a_set_point(self):
        asked = ASKED | {"action": "change = lab_2 - lag(lab_2)", "obs": ["lab_1"]}
        asked["missing"] = ["lab_1=carry", "change=0"]
        dataset = countmorl.from_table(CLINIC, **asked)
        assert dataset.action[:, 0].tolist() == [0, 1, 1, 0, 1]
        assert dataset.schema.action[0].expression == "lab_2 - lag(lab_2)"

    def test_one_time_in_several_ways_by_the_clock_on_the_wall(self):
        zoned = CLINIC.with_columns(pl.col("visit").str.replace(" ", "T") + ":00+02:00")
        kinds = {"clock": {"kind": "hour"}, "day": {"kind": "weekday"}}
        asked = ASKED | {"obs": ["visit", "clock = visit", "day = visit"], "missing": ()}
        dataset = countmorl.from_table(zoned, **asked, columns=kinds)
        angle = 2 * np.pi * np.array([10, 12, 16.5, 0, 0]) / 24
        np.testing.assert_allclose(dataset.obs[:, 0], [0, 2, 6.5, 0, 24])
        np.testing.assert_allclose(dataset.obs[:, 1], np.sin(angle), atol=1e-6)
        days = 2 * np.pi * np.array([0, 0, 0, 3, 4]) / 7  # Mondays, a Thursday, a Friday.
        np.testing.assert_allclose(dataset.obs[:, 4], np.cos(days), atol=1e-6)

    def test_what_was_understood(self):
        _, found = import_arrays(CLINIC, complete(ASKED, None), name="clinic")
        assert (found.rows, found.steps, found.episodes) == (5, 5, 2)
        assert (found.terminated, found.truncated, found.missing) == (1, 1, {"lab_1": 1})
        assert found.as_dict()["bounds"][0]["name"] == "dose"

    def test_findings(self):
        frame = CLINIC.with_columns(one=pl.lit(1.0), twin=pl.col("lab_2") * 1.0)
        asked = ASKED | {"obs": ["lab_*", "one", "twin"], "missing": ["lab_*=median"]}
        _, found = import_arrays(frame, complete(asked, None), name="clinic")
        said = {finding.kind: finding.message for finding in found.findings}
        assert set(said) == {"constant", "duplicate-column", "never-missing"}
        assert "'one'" in said["constant"]
        assert "'lab_2', 'twin'" in said["duplicate-column"]
        assert "'lab_2'" in said["never-missing"]


class TestEveryWay:
    @pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "arrow", "csv.gz"])
    def test_every_format_gives_the_same_dataset(self, tmp_path, ending):
        import gzip

        path = tmp_path / f"log.{ending}"
        if ending == "csv.gz":
            path.write_bytes(gzip.compress(CLINIC.write_csv().encode()))
        else:
            write = {"jsonl": "write_ndjson", "arrow": "write_ipc"}.get(ending, f"write_{ending}")
            getattr(CLINIC, write)(path)
        wanted = countmorl.from_table(CLINIC, **ASKED)
        assert countmorl.from_table(path, **ASKED).hash == wanted.hash
        assert countmorl.from_table([str(path)], **ASKED).hash == wanted.hash

    def test_several_files(self, tmp_path):
        CLINIC[:3].write_csv(tmp_path / "a.csv")
        CLINIC[3:].select(reversed(CLINIC.columns)).write_csv(tmp_path / "b.csv")
        wanted = countmorl.from_table(CLINIC, **ASKED)
        assert countmorl.from_table(tmp_path, **ASKED).hash == wanted.hash

    def test_a_file_holds_what_memory_holds(self, tmp_path):
        out = tmp_path / "deep" / "log.hdf5"
        found = import_file(random_log(), request_of(LONG), out)
        assert countmorl.load(out).hash == countmorl.from_table(random_log(), **LONG).hash
        with h5py.File(out) as file:
            assert "next_observations" not in file
            assert file["observations"].shape == (found.steps, 9 + 2 * 11)
        assert [path.name for path in out.parent.iterdir()] == ["log.hdf5"]

    def test_the_order_of_rows_does_not_matter(self):
        log = random_log()
        shuffled = log.sample(fraction=1.0, shuffle=True, seed=1)
        one, other = (countmorl.from_table(frame, **LONG) for frame in (log, shuffled))
        assert sorted(map(bytes, one.obs)) == sorted(map(bytes, other.obs))
        assert np.isclose(one.reward.sum(), other.reward.sum())
        assert one.obs_names == other.obs_names

    @pytest.mark.parametrize("size", [7, 64])
    def test_the_size_of_batches_does_not_matter(self, monkeypatch, size):
        wanted = countmorl.from_table(random_log(), **LONG)
        monkeypatch.setattr(survey, "BATCH", size)
        monkeypatch.setattr(output, "CHUNK", size)
        assert countmorl.from_table(random_log(), **LONG).hash == wanted.hash

    def test_a_schema_makes_the_same_numbers_of_another_log(self):
        first = countmorl.from_table(CLINIC, **(ASKED | {"missing": "lab_1=median"}))
        again = countmorl.from_table(CLINIC, schema=first.schema)
        assert again.hash == first.hash
        part = CLINIC[3:].with_columns(lab_1=pl.Series([None, 5.0]))
        other = countmorl.from_table(part, schema=first.schema)
        assert other.schema == first.schema
        assert other.obs[0, :2].tolist() == [3.5, 1]
        strange = CLINIC.with_columns(ward=pl.lit("q"))
        with pytest.raises(DataError, match=r"'ward' holds 'q' in row 1.*none of its values"):
            countmorl.from_table(strange, schema=first.schema)

    def test_a_schema_file_and_options_that_change_it(self, tmp_path):
        path = tmp_path / "schema.toml"
        path.write_text('obs = ["lab_2"]\naction = "dose"\nreward = "score"\nhistory = 2\n')
        assert countmorl.from_table(CLINIC, schema=path).obs_dim == 3
        assert countmorl.from_table(CLINIC, schema=str(path), history=1).obs_dim == 1

    def test_names(self, tmp_path):
        CLINIC.write_csv(tmp_path / "visits.csv")
        assert countmorl.from_table(tmp_path / "visits.csv", **ASKED).name == "visits"
        assert countmorl.from_table(CLINIC, **ASKED, name="mine").name == "mine"

    def test_exogenous_columns_are_resolved(self):
        dataset = countmorl.from_table(CLINIC, **ASKED, exogenous="lab_*")
        assert dataset.schema.exogenous == ("lab_1", "lab_2")

    def test_what_is_refused_leaves_nothing_behind(self, tmp_path):
        out = tmp_path / "log.hdf5"
        with pytest.raises(DataError, match="Values are missing"):
            import_file(CLINIC, complete(ASKED | {"missing": ()}, None), out)
        late = CLINIC.with_columns(lab_1=pl.Series([1.0, 2.0, 3.0, None, 5.0]))
        with pytest.raises(DataError, match="no value to carry"):
            import_file(late, complete(ASKED, None), out)
        assert list(tmp_path.iterdir()) == []


class TestOptions:
    def test_an_unknown_one_is_refused(self):
        with pytest.raises(ConfigError, match="Did you mean 'frame_skip'"):
            countmorl.from_table(CLINIC, **ASKED, frameskip=2)

    def test_a_schema_is_asked_again(self):
        schema = Schema(obs=(Column(name="x"),), action=(Column(name="a"),), reward="r")
        assert complete({}, schema) == Request.of(schema)
        assert complete({"reward": "q"}, schema).reward == "q"

    def test_columns_may_be_said_in_plain_words(self):
        asked = ASKED | {"columns": {"visit": {"kind": "weekday"}}}
        assert "visit.weekday.sin" in countmorl.from_table(CLINIC, **asked).obs_names

    def test_mixed_actions_are_refused_before_anything_is_read(self, monkeypatch):
        monkeypatch.setattr(encode, "settle", None)
        with pytest.raises(ConfigError, match="numbers, or one category, not both"):
            countmorl.from_table(CLINIC, **(ASKED | {"action": ["dose", "ward"], "obs": "lab_2"}))


class TestPropensity:
    """Two wards, two drugs; the first is given by a die, and the log knows its sides."""

    LOG = pl.DataFrame(
        {
            "who": [1, 1, 2, 2, 2],
            "when": [1, 0, 2, 0, 1],
            "x": [0.5, 1.5, 2.5, 3.5, 4.5],
            "drug": ["a", "b", "a", "a", "b"],
            "prob": [0.5, 0.25, 0.125, 1.0, 0.75],
            "odds": [1.0, 3.0, 7.0, 0.0, 1 / 3],
            "r": [0.0, 0.0, 1.0, 0.0, 0.0],
        }
    )
    ASKED: ClassVar = {"action": "drug", "reward": "r", "episode": "who", "time": "when"}

    @pytest.mark.parametrize("propensity", ["prob", "1 / (1 + odds)"])
    def test_rows_are_ordered_with_it(self, propensity):
        dataset = from_table(self.LOG, obs="x", propensity=propensity, **self.ASKED)
        assert dataset.obs[:, 0].tolist() == [1.5, 0.5, 3.5, 4.5, 2.5]
        assert dataset.propensity == pytest.approx([0.25, 0.5, 1.0, 0.75, 0.125])

    def test_it_looks_at_other_rows_as_any_expression(self):
        asked = self.ASKED | {"propensity": "coalesce(lag(prob), 1)"}
        dataset = from_table(self.LOG, obs="x", **asked)
        assert dataset.propensity.tolist() == [1, 0.25, 1, 1, 0.75]

    def test_a_wild_card_does_not_see_it(self):
        dataset = from_table(self.LOG, obs="*", propensity="prob", **self.ASKED)
        assert dataset.obs_names == ("x", "odds")

    def test_rows_that_are_dropped_take_theirs_along(self):
        log = self.LOG.with_columns(x=pl.when(pl.col("x") == 0.5).then(None).otherwise("x"))
        dataset = from_table(log, obs="x", propensity="prob", missing="x=drop", **self.ASKED)
        assert dataset.propensity.tolist() == [0.25, 1.0, 0.75, 0.125]

    def test_blank_lines_need_none(self, tmp_path):
        text = self.LOG.write_csv()
        (tmp_path / "log.csv").write_text(text.replace("\n", "\n\n", 2))
        dataset = from_table(tmp_path / "log.csv", obs="x", propensity="prob", **self.ASKED)
        assert sorted(dataset.propensity) == sorted(self.LOG["prob"])

    def test_a_log_of_other_columns_is_the_same_as_ever(self):
        """The schema does not hold it: who acts by it, or reads a log without it, needs none."""
        with_it = from_table(self.LOG, obs="x", propensity="prob", **self.ASKED)
        without = from_table(self.LOG.drop("prob"), schema=with_it.schema)
        assert without.propensity is None
        assert without.schema == with_it.schema
        again = from_table(self.LOG, schema=with_it.schema, propensity="prob")
        assert again.hash == with_it.hash

    @pytest.mark.parametrize(
        ("changes", "how", "words"),
        [
            ({"prob": [0.5, None, 1, 1, None]}, {}, "'prob' is missing in 2 of 5 rows, first in"),
            ({"prob": [0.5, 1, 0, 1, 1]}, {}, "'prob' is 0 in row 3. It says how likely"),
            ({"prob": [0.5, 1, 1, 1, 1.2]}, {}, "'prob' is 1.2 in row 5."),
            ({"prob": list("abcde")}, {}, "'prob'"),
            ({}, {"missing": "prob=0.5"}, "Nothing can stand for a missing `propensity`"),
            ({}, {"columns": {"prob": {"missing": "drop"}}}, "Nothing can stand for a missing"),
            ({}, {"frame_skip": 2}, "With `frame_skip` 2 a step is made of as many actions"),
            ({}, {"action": "odds"}, "'odds' is a number, of which a log can hold densities"),
            ({}, {"propensity": "prop"}, "prop"),
        ],
    )
    def test_what_is_refused(self, changes, how, words):
        log = self.LOG.with_columns(**{n: pl.Series(v, strict=False) for n, v in changes.items()})
        with pytest.raises(CountMorlError, match=re.escape(words)):
            from_table(log, obs="x", **(self.ASKED | {"propensity": "prob"} | how))

    def test_a_rule_for_all_is_not_for_it(self):
        log = self.LOG.with_columns(prob=pl.Series([0.5, None, 1, 1, 1]))
        with pytest.raises(DataError, match="'prob' is missing in 1 of 5 rows, first in row 2"):
            from_table(log, obs="x", propensity="prob", missing="carry", **self.ASKED)
