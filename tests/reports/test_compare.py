import subprocess
import sys
from dataclasses import replace

import pytest

from countmorl.errors import RunError
from countmorl.reports.compare import differing, draw_curves, labels, measure_of
from countmorl.runs.summary import summarize
from made_runs import make_run


class TestDiffering:
    def test_only_settings_that_differ_are_told(self, tmp_path):
        runs = [make_run(tmp_path / name, beta=b) for name, b in (("a", 1.0), ("b", 3.0))]
        assert differing(runs) == [
            {"beta": 1.0, "sac.actor_rate": 0.1},
            {"beta": 3.0, "sac.actor_rate": 0.3},
        ]
        assert differing(runs[:1]) == [{}]

    def test_seeds_and_data_are_settings(self, tmp_path):
        one = make_run(tmp_path / "one", model_seed=0)
        origin = replace(one.manifest.data, hash="zyxwvutsrq")
        two = make_run(tmp_path / "two", seed=4, model_seed=3, data=origin)
        assert differing([one, two]) == [
            {"seed": 0, "model_seed": 0, "data": "abcdefgh"},
            {"seed": 4, "model_seed": 3, "data": "zyxwvuts"},
        ]

    def test_a_setting_that_an_older_run_did_not_write_differs(self, tmp_path):
        new, shared = make_run(tmp_path / "new"), {"sac": {"discount": 0.99, "actor_rate": 0.1}}
        old = make_run(tmp_path / "older", config=shared)
        assert differing([old, new]) == [{"beta": None}, {"beta": 1.0}]
        assert differing([new, old]) == [{"beta": 1.0}, {"beta": None}]
        other = make_run(tmp_path / "other", algorithm="other", config=shared, own=())
        assert differing([other, new]) == [{}, {"beta": 1.0}]  # It may well have no such setting.
        stronger = make_run(tmp_path / "stronger", beta=2.0)
        assert [list(own) for own in differing([other, new, stronger])] == [
            ["sac.actor_rate"],
            ["beta", "sac.actor_rate"],
            ["beta", "sac.actor_rate"],
        ]

    def test_settings_of_the_same_name_in_two_algorithms_are_each_ones_own(self, tmp_path):
        """TD3+BC's weight is of imitation, MOPO's of uncertainty."""

        def made(folder, algorithm, weight, epochs):
            config = {"weight": weight, "epochs": epochs}
            about = {"algorithm": algorithm, "config": config, "own": ("weight",)}
            return make_run(tmp_path / folder, **about)

        mopo, td3 = made("a", "mopo", 0.5, 0), made("b", "td3-bc", 2.5, 1)
        more, same = made("c", "td3-bc", 3.0, 2), made("d", "td3-bc", 3.0, 2)
        assert differing([mopo, td3]) == [
            {"weight": 0.5, "epochs": 0},
            {"weight": 2.5, "epochs": 1},
        ]
        assert differing([more, same]) == [{}, {}]  # Of one algorithm only what differs is told.
        assert differing([mopo, more, same])[1] == {"weight": 3.0, "epochs": 2}


def test_runs_are_called_by_their_folders(tmp_path):
    one, two, other = (summarize(make_run(tmp_path / at)) for at in ("x/one", "x/two", "y/one"))
    assert labels([one, two]) == ["one", "two"]
    assert labels([one, other]) == [str(tmp_path / "x/one"), str(tmp_path / "y/one")]


def test_scores_and_returns_are_not_mixed(tmp_path):
    scored = summarize(make_run(tmp_path / "scored"))
    with pytest.raises(RunError, match="cannot be compared"):
        measure_of([scored, replace(scored, measure="return")])
    assert measure_of([scored, replace(scored, measure=None)]) == "score"
    assert measure_of([]) == "return"


class TestCurves:
    def test_are_drawn(self, tmp_path):
        runs = [summarize(make_run(tmp_path / name)) for name in "ab"]
        drawn = draw_curves(runs, tmp_path / "curves.png")
        assert drawn.read_bytes().startswith(b"\x89PNG")

    def test_names_are_no_formulas(self, tmp_path):
        facts = replace(summarize(make_run(tmp_path / "run")), name=r"$\no$", data=r"$\formula$")
        assert draw_curves([facts], tmp_path / "curves.png").exists()

    def test_a_run_that_was_not_judged_is_left_out(self, tmp_path):
        unjudged = summarize(make_run(tmp_path / "run", scores=()))
        with pytest.raises(RunError, match="None of these runs was evaluated"):
            draw_curves([unjudged], tmp_path / "curves.png")
        judged = summarize(make_run(tmp_path / "judged"))
        assert draw_curves([judged, unjudged], tmp_path / "curves.png").exists()


def test_reports_need_no_jax():
    program = (
        "import sys, countmorl.reports.compare, countmorl.reports.figures; "
        "print(sorted({'jax', 'equinox', 'optax', 'h5py', 'gymnasium'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")
