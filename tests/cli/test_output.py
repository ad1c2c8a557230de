import json

import pytest

from countmorl.cli.output import finish, points, print_json, print_pairs, print_table
from countmorl.errors import Interrupted
from countmorl.runs.folder import Run
from countmorl.runs.manifest import DataOrigin
from countmorl.runs.options import RunOptions
from made_runs import judged, make_run, manifest


def test_json_is_one_line(capsys):
    print_json({"a": [1, None], "b": "x\ny"})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"a": [1, None], "b": "x\ny"}


def test_pairs_are_aligned(capsys):
    print_pairs({"a": 1, "long name": "two"})
    assert capsys.readouterr().out == "a          1\nlong name  two\n"


def test_table(capsys):
    print_table(("name", "rows"), [("x", "1"), ("longer", "23")])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["name    rows", "x       1", "longer  23"]


def test_a_table_in_a_pipe_is_not_cut_off(capsys):
    print_table(("name",), [("a" * 150,)])
    assert "a" * 150 in capsys.readouterr().out


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [(None, None, "no reference known"), (12.34, None, "12.3"), (12.34, 0.56, "12.3 ± 0.6")],
)
def test_points(mean, spread, text):
    assert points(mean, spread) == text


UNKNOWN = (
    "Whether it is better than its log is not known yet, and on narrow logs policies often end "
    "below it. Ask: countmorl judge {}"
)


class TestFinish:
    @pytest.mark.parametrize(
        ("log", "said"),
        [
            (2.5, "The log itself has 2.5."),
            (
                3.5,
                "warning: below the log itself, which has 3.5 (mean of the last evaluations: 3.0). "
                "Keep what you have.",
            ),
        ],
    )
    def test_a_policy_below_its_log_does_not_look_fine(self, tmp_path, capsys, log, said):
        data = DataOrigin(name="toy", hash="", log_score=log, log_return=99.0)
        run = make_run(tmp_path / "run", data=data)  # It has scores of 1, 2 and 6.
        finish(lambda: run, json=False)
        assert capsys.readouterr().out.splitlines()[1] == said

    def test_a_score(self, tmp_path, capsys):
        run = make_run(tmp_path / "run")
        assert finish(lambda: run, json=False) == 0
        assert capsys.readouterr().out.splitlines() == [
            "Last score 6.0 ± 0.5 (normalised).",
            UNKNOWN.format(run.path),
            "200 updates/s of the policy; 8 s of compiling in all.",
            f"Run: {run.path}",
        ]

    def test_a_return(self, tmp_path, capsys):
        run = Run.create(tmp_path / "run", manifest())
        run.append("metrics.jsonl", judged(2))
        run.policy_path.touch()
        assert finish(lambda: run, json=False) == 0
        assert capsys.readouterr().out.splitlines() == [
            "Last return 6.0 ± 1.0.",
            UNKNOWN.format(run.path),
            f"Run: {run.path}",
            f"Policy: {run.policy_path}",
        ]

    @pytest.mark.parametrize(
        ("every", "reason"),
        [
            (10, "Not simulated: no environment is known for this dataset (--task names one)."),
            (0, "Not simulated, since --eval-every is 0."),
        ],
    )
    def test_why_it_was_not_judged(self, tmp_path, capsys, every, reason):
        run = Run.create(tmp_path / "run", manifest(options=RunOptions(eval_every=every)))
        run.append("metrics.jsonl", {"stage": "policy", "epoch": 1})
        finish(lambda: run, json=False)
        assert capsys.readouterr().out.splitlines()[0] == reason

    def test_a_model_alone_is_not_judged(self, tmp_path, capsys):
        run = Run.create(tmp_path / "run", manifest(algorithm="model"))
        finish(lambda: run, json=False)
        assert capsys.readouterr().out == f"Run: {run.path}\n"

    def test_json(self, tmp_path, capsys):
        run = make_run(tmp_path / "run")
        assert finish(lambda: run, json=True) == 0
        summary = json.loads(capsys.readouterr().out)
        assert (summary["score"], summary["epochs"], summary["values"]) == (6, 3, [1, 2, 6])

    def test_a_stop_says_how_to_go_on(self, tmp_path, capsys):
        def stopped():
            raise Interrupted(tmp_path / "run", "policy", 3)

        assert finish(stopped, json=False) == 130
        out, err = capsys.readouterr()
        assert out == ""
        assert err == (
            "Stopped after epoch 3 of stage policy; nothing is lost. "
            f"Go on with: countmorl resume {tmp_path / 'run'}\n"
        )
