import numpy as np
import pytest

from countmorl.data.checks import leaks


@pytest.mark.parametrize(("factor", "shift"), [(1, 0), (-3, 7)])
class TestLeaks:
    def test_the_reward(self, only, walk, with_names, factor, shift):
        arrays = walk()
        arrays["obs"][:, 1] = factor * arrays["reward"] + shift
        finding = only(with_names(arrays, "age", "score", "lab"), "leak")
        assert (finding.level, finding.count) == ("warning", 1)
        assert finding.message.startswith("`obs` columns score are the reward of the same row")

    def test_the_action(self, only, walk, factor, shift):
        arrays = walk()
        arrays["obs"][:, 0] = factor * arrays["action"][:, 1] + shift
        assert "columns [0] are the action of the same row" in only(arrays, "leak").message

    def test_the_next_action(self, only, walk, factor, shift):
        arrays = walk()
        arrays["obs"][:-1, 2] = factor * arrays["action"][1:, 0] + shift
        assert "columns [2] are the next row's action" in only(arrays, "leak").message

    def test_the_action_before_is_no_secret(self, findings, walk, factor, shift):
        arrays = walk()
        arrays["obs"][1:, 2] = factor * arrays["action"][:-1, 0] + shift
        assert findings(arrays) == []


def test_a_discrete_action(only, walk):
    arrays = walk()
    arrays["action"] = np.random.default_rng(0).integers(0, 4, 2000)
    arrays["obs"][:, 0] = arrays["action"]
    assert "the action of the same row" in only(arrays, "leak").message
    arrays["obs"][:, 0] = arrays["action"] == 2
    assert "the action of the same row" in only(arrays, "leak").message


def test_what_only_looks_so_in_the_probe_is_none(findings, walk):
    arrays = walk(rows=40_000)
    arrays["obs"][:, 1] = arrays["reward"]
    arrays["obs"][1::4, 1] += 1  # Between the rows that are looked at first.
    assert findings(arrays) == []


def test_a_few_rows_prove_nothing(findings, walk):
    arrays = {key: values[:15] for key, values in walk().items()}
    arrays["obs"][:, 1] = arrays["reward"]
    assert "leak" not in [f.kind for f in findings(arrays)]


def test_equal_columns_are_not_put_to_each_of_equal_actions(findings, walk, monkeypatch):
    asked, perfect = [], leaks._perfect

    def counted(*arguments):
        asked.append(arguments)
        return perfect(*arguments)

    monkeypatch.setattr(leaks, "_perfect", counted)
    arrays = walk()
    arrays["action"] = np.repeat(arrays["action"][:, :1], 30, axis=1)
    arrays["obs"] = np.repeat(arrays["action"][:, :1], 20, axis=1)
    arrays.pop("next_obs", None)
    assert [each.count for each in findings(arrays) if each.kind == "leak"] == [20]
    assert len(asked) == 20
