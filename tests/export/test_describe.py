import pytest

from bundles import HISTORY, OFFERS, parts_of
from countmorl.export.describe import bundle_readme
from countmorl.runtime.contract import Judged
from countmorl.runtime.guard import GuardSettings

JUDGED = Judged(
    verdict="better", sentence="It earns more.", gain=(1.0, 2.0), behaviour=3.0, unit="return"
)


@pytest.mark.parametrize(
    ("how", "sentences"),
    [
        ({}, ['bundle.act_row({"glucose"', "Nobody has judged", "has no guard", "is refused"]),
        ({"schema": None}, ["bundle.act([", '{"obs": [']),
        ({"schema": HISTORY}, ["bundle.session().act_row(", "last 3 rows"]),
        ({"head": "categorical", "schema": OFFERS}, ["One of `none`, `mail`, `call`."]),
        ({"guard": GuardSettings(threshold=4.0)}, ["fewer than 4 times", "counts as unseen"]),
        ({"judged": JUDGED}, ["It earns more."]),
        ({"counter": None}, ["(obs -> action)"]),
    ],
)
def test_a_readme_says_what_the_contract_says(how, sentences):
    text = bundle_readme(parts_of(**how)[1], onnx=True).replace("'", '"')
    for sentence in sentences:
        assert sentence in text
    assert "curl -s http://127.0.0.1:8000/act" in text
    assert "{" not in text.partition("## What it takes")[2], "a field that was not filled"
    assert max(map(len, text.splitlines())) < 200
