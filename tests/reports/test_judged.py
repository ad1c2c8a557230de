from countmorl.reports.judged import gains, log_grid, opinion_grid, refusals, way_shares

FACTS = {"gain": 2.0, "gain_low": 1.5, "gain_high": 2.5}
SURE = {"value": 12.0, "interval": [11.0, 13.0], "unit": "u", "made_by": "m", "facts": FACTS}
NONE = {"refused": "it has not converged.", "made_by": "m", "facts": {}}
LOG = {"value": 10.0, "interval": None, "unit": "u", "made_by": "b", "facts": {}}
POLICY = {
    "name": "bc",
    "behaviour": LOG,
    "opinions": {"fitted Q": SURE, "model": NONE},
    "unseen": 0.02,
    "thin": 0.1,
}


def texts(grid):
    return [[cell.text for cell in row] for row in grid.rows]


def test_the_log_stands_above_the_opinions():
    first, second, third = texts(opinion_grid([POLICY]))
    assert first == ["the log", "behaviour", "10", "-", "-"]
    assert second == ["bc", "fitted Q", "12", "11 to 13", "+1.5 to +2.5"]
    assert third[-1] == "refused"
    assert refusals([POLICY]) == ["model gives no number of bc: it has not converged."]


def test_gains_have_their_intervals_and_ways_their_shares():
    (trace,) = gains([POLICY])["data"]
    assert (trace["x"], trace["error_x"]["array"]) == ([2.0], [0.5])
    never, hardly = (each["x"] for each in way_shares([POLICY])["data"])
    assert (never, hardly) == ([2.0], [8.0])


def test_a_log_in_a_few_lines():
    spread = [0.0, 1.0, 1.5, 3.0]
    log = {
        "rows": 240,
        "episodes": 12,
        "obs": 1,
        "action": 3,
        "discrete": True,
        "terminated": 0,
        "rewards": spread,
        "returns": spread,
        "lengths": spread,
    }
    told = dict(texts(log_grid(log)))
    assert told["action"] == "3 choices"
    assert told["return of an episode"] == "0 to 3, median 1, mean 1.5"
