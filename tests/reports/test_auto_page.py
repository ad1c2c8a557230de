import json
import re

import pytest

from countmorl.reports.auto_page import render_auto_page

FACTS = {"gain": 2.0, "gain_low": 1.5, "gain_high": 2.5}
SURE = {"value": 12.0, "interval": [11.0, 13.0], "unit": "u", "made_by": "m", "facts": FACTS}
NONE = {"refused": "it has <b>not</b> converged.", "made_by": "m", "facts": {}}
LOG = {"value": 10.0, "interval": None, "unit": "u", "made_by": "b", "facts": {}}


def policy(name: str, opinions: dict, **more) -> dict:
    return {
        "label": name.split()[0],
        "epoch": 3,
        "name": name,
        "sure": 1.25,
        "verdict": "better",
        "sentence": "better than the log.",
        "unseen": 0.02,
        "thin": 0.1,
        "gain": [1.5, 2.5],
        "behaviour": LOG,
        "opinions": opinions,
        "notes": ["critics see rows that taught the policy"],
        **more,
    }


def result(taken: str | None = "td3-bc epoch 3", judged: list | None = None) -> dict:
    both = [policy("td3-bc epoch 3", {"fitted Q": SURE, "model": SURE})]
    both += [policy("clone epoch 3", {"fitted Q": NONE}, sure=None)]
    tried = {"label": "td3-bc", "algorithm": "td3-bc", "about": "stays near", "epochs": 9}
    return {
        "folder": "out",
        "source": "log.npz",
        "budget": 1800.0,
        "spent": 1000.0,
        "workers": 2,
        "seed": 0,
        "data": {
            "name": "<script>alert(1)</script>",
            "hash": "ab" * 32,
            "rows": 240,
            "episodes": 12,
            "lengths": [20, 20, 20, 20],
            "returns": [0.0, 1.0, 1.5, 3.0],
            "rewards": [0.0, 0.1, 0.1, 0.2],
            "terminated": 0,
            "obs": 1,
            "action": 1,
            "discrete": False,
            "held": "set aside: 1 of 12 episodes",
            "notes": [],
            "findings": [{"level": "warning", "message": "Odd."}],
        },
        "tried": [
            tried | {"settings": {"value_weight": 2.5}, "done": 9, "seconds": 90.0, "state": "ok"}
        ],
        "judged": both if judged is None else judged,
        "skipped": ["td3-bc epoch 1"],
        "choice": {
            "taken": taken,
            "sentence": "take it.",
            "reasons": ["Because."],
            "policy": "out/policy.safetensors",
            "handed_out": "it",
            "warning": None,
        },
    }


def figures(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.S)
    assert found
    return json.loads(found.group(1))


def test_everything_is_told():
    page = render_auto_page(result())
    for text in (
        "A policy that is better than the log",
        "Take it.",
        "Because.",
        "value_weight 2.5",
        "+1.5 to +2.5",
        "16:40 of a budget of",
        "td3-bc epoch 1",
        "critics see rows that taught the policy",
    ):
        assert text in re.sub(r"\s+", " ", page)
    assert "fitted Q gives no number of clone epoch 3" in page


def test_texts_of_others_are_no_markup():
    page = render_auto_page(result())
    assert "<script>alert" not in page
    assert "&lt;b&gt;not&lt;/b&gt;" in page


def test_the_figures_hold_the_intervals_and_the_shares():
    found = figures(render_auto_page(result()))
    first, second = found["gains"]["data"]
    assert (first["name"], second["name"]) == ("fitted Q", "model")
    assert first["x"] == [2.0]
    assert first["error_x"]["array"] == first["error_x"]["arrayminus"] == [0.5]
    assert found["gains"]["layout"]["yaxis"]["ticktext"] == ["clone epoch 3", "td3-bc epoch 3"]
    never, hardly = (each["x"] for each in found["coverage"]["data"])
    assert never == [2.0, 2.0]
    assert hardly == pytest.approx([8.0, 8.0])


def test_nobody_could_judge():
    nobody = [policy("clone epoch 3", {"fitted Q": NONE}, sure=None)]
    page = render_auto_page(result(taken=None, judged=nobody))
    assert "Keep what you have" in page
    assert set(figures(page)) == {"coverage"}
