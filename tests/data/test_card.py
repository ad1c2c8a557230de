import json

import pytest

from countmorl.data.card import data_card
from countmorl.data.findings import Finding
from worlds import linear_log


def test_the_log_in_numbers():
    log = linear_log(12, 20)
    card = data_card(log, [Finding("warning", "scale", "Odd.")], "nothing is set aside")
    assert (card["rows"], card["episodes"], card["terminated"]) == (240, 12, 0)
    assert card["lengths"] == [20, 20, 20, 20]
    returns = log.reward.reshape(12, 20).sum(axis=1)
    assert card["returns"][0] == pytest.approx(returns.min(), abs=1e-4)
    assert card["returns"][2] == pytest.approx(returns.mean(), abs=1e-4)
    assert card["held"] == "nothing is set aside"
    assert card["findings"] == [{"level": "warning", "message": "Odd."}]


def test_its_columns_are_told_one_by_one():
    log = linear_log(12, 20)
    *seen, done, paid = json.loads(json.dumps(data_card(log, [], "")))["columns"]
    assert [each["name"] for each in seen] == list(log.obs_names)
    assert (done["part"], done["name"]) == ("action", log.action_names[0])
    assert (paid["part"], paid["distinct"]) == ("reward", len(set(log.reward.tolist())))
    assert seen[0]["quantiles"][0] == log.obs[:, 0].min()
    assert seen[0]["quantiles"] == sorted(seen[0]["quantiles"])
