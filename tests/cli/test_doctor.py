import json

from countmorl.cli import doctor


def test_prints_what_the_examination_found(run_cli, monkeypatch):
    report = {"versions": {"python": "3.11"}, "self-test": {"training": "works"}, "ok": True}
    monkeypatch.setattr(doctor, "examine", lambda: report)
    code, out, _ = run_cli("doctor")
    assert code == 0
    assert out.splitlines() == [
        "versions:",
        "  python  3.11",
        "self-test:",
        "  training  works",
        "Everything works.",
    ]
    code, out, _ = run_cli("doctor", "--json")
    assert (code, json.loads(out)) == (0, report)


def test_exits_1_where_something_is_broken(run_cli, monkeypatch):
    report = {"self-test": {"training": "failed: OSError: no"}, "ok": False}
    monkeypatch.setattr(doctor, "examine", lambda: report)
    code, out, _ = run_cli("doctor")
    assert code == 1
    assert "Something is broken" in out
    assert run_cli("doctor", "--json")[0] == 1
