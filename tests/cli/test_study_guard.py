import json

SHORT = ("--task", "Pendulum-v1", "--episodes", 1, "--clone-updates", 5, "--quantiles", 0.1)


def test_a_table_and_json(run_cli, pendulum):
    words = ("study", "guard", pendulum / "run", *SHORT, "--counts", "neighbours")
    code, out, err = run_cli(*words)
    assert code == 0, err
    assert "unguarded" in out
    assert "chance" in out
    assert "fall-back" in out
    code, out, _ = run_cli(*words, "--json")
    found = json.loads(out)
    assert [each["policy"] for each in found] == ["run", "clone + 0.5", "chance"]


def test_bad_input_is_a_sentence(run_cli, pendulum, trained):
    for words, sentence in (
        ((), "Name at least one run, or the log"),
        ((pendulum / "run",), "no task that can be simulated"),
        ((pendulum / "run", *SHORT, "--noise", -1), "`noise`"),
    ):
        code, _, err = run_cli("study", "guard", *words)
        assert (code, sentence in err) == (2, True), err
