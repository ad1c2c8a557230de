"""`countmorl.auto` as users call it, with a portfolio that takes seconds."""

import json
import re
import shutil

import numpy as np
import pytest

import countmorl
from auto_parts import BENCH, TRIED, make_tiny, write_linear_log
from countmorl import ConfigError, DataError, RunError
from countmorl.automatic.budget import Clock
from countmorl.evaluation.simulate import Simulation

pytestmark = pytest.mark.slow

SILENT = {"config": BENCH, "workers": 1, "say": lambda text: None}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A log, and all that came of it."""
    folder = tmp_path_factory.mktemp("auto")
    log = write_linear_log(folder / "log.npz")
    said = []
    with pytest.MonkeyPatch.context() as patch:
        make_tiny(patch)
        patch.setattr(Simulation, "of", lambda *_: pytest.fail("a simulator was looked for"))
        options = SILENT | {"say": said.append}
        result = countmorl.auto(log, out=folder / "out", budget="1h", **options)
    return log, folder / "out", result, said


def again(done, tmp_path):
    """A copy of that folder, to go on in."""
    return done[0], shutil.copytree(done[1], tmp_path / "copy")


def files(folder):
    """What has to be the same, whenever it was stopped."""
    skipped = ("timing.jsonl", ".lock", "auto.json", "result.json", "report.html")
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in skipped and path.suffix != ".log":
            text = path.read_bytes()
            found[str(path.relative_to(folder))] = text
    return found


def test_all_of_it(done):
    _, folder, result, said = done
    names = {each["name"] for each in result["judged"]}
    wanted = {f"{label} epoch {n}" for label in ("td3-bc", "count-morl") for n in (1, 2, 3)}
    assert names == wanted | {"clone epoch 3"}
    assert {each["state"] for each in result["tried"]} == {"finished"}
    assert result["skipped"] == []
    assert json.loads((folder / "result.json").read_text(), parse_constant=str) == json.loads(
        json.dumps(result), parse_constant=str
    )
    assert any(line.startswith("judged 7 of 7") for line in said)
    assert any("obs` columns [0] are the reward" in line for line in said)


def test_where_none_is_better_the_clone_is_handed_out(done):
    _, folder, result, _ = done
    assert result["choice"]["taken"] is None
    assert "keep what you have" in result["choice"]["sentence"]
    clone = next((folder / "runs").glob("clone-*"))
    assert (folder / "policy.safetensors").read_bytes() == (
        clone / "policy.safetensors"
    ).read_bytes()
    policy = countmorl.load_policy(folder / "policy.safetensors")
    assert policy.act(np.zeros((2, 1))).shape == (2, 1)


def test_the_page_tells_it(done):
    _, folder, _, _ = done
    page = re.sub(r"\s+", " ", (folder / "report.html").read_text())
    assert "Keep what you have" in page
    for each in TRIED:
        assert each.about in page
    assert "240" in page  # Rows of the log.
    head = page.split('<script type="application/json"')[0]
    assert not re.search(r"(src|href)=.?https?:", head)


def test_the_same_command_again_does_nothing_twice(done, tmp_path, monkeypatch):
    log, folder = again(done, tmp_path)
    engines, before = make_tiny(monkeypatch), files(folder)
    result = countmorl.auto(log, out=folder, budget="1h", **SILENT)
    assert [engine.started for engine in engines] == [[]]
    assert files(folder) == before
    assert result["judged"] == done[2]["judged"]


def test_killed_while_it_trains_it_goes_on_to_the_same(done, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    make_tiny(monkeypatch, most=2)
    with pytest.raises(RuntimeError, match="killed"):
        countmorl.auto(done[0], out=folder, budget="1h", **SILENT)
    assert not (folder / "result.json").exists()
    make_tiny(monkeypatch)
    countmorl.auto(done[0], out=folder, budget="1h", **SILENT)
    assert files(folder) == files(done[1])


def test_killed_while_it_judges_it_goes_on_to_the_same(done, tmp_path, monkeypatch):
    log, folder = again(done, tmp_path)
    before = files(folder)
    for name in ("result.json", "policy.safetensors", "judgements/td3-bc-epoch-2.json"):
        (folder / name).unlink()
    make_tiny(monkeypatch)
    countmorl.auto(log, out=folder, budget="1h", **SILENT)
    assert files(folder) == before


def test_what_is_shown_to_be_better_is_taken(done, tmp_path, monkeypatch):
    log, folder = again(done, tmp_path)
    path = folder / "judgements" / "td3-bc-epoch-2.json"
    told = json.loads(path.read_text())
    facts = {"gain": 5.0, "gain_low": 4.0, "gain_high": 6.0}
    sure = {"value": 9.0, "interval": None, "unit": "", "made_by": "", "facts": facts}
    told |= {"verdict": "better", "opinions": {"fitted Q": sure, "model": sure}}
    path.write_text(json.dumps(told))
    make_tiny(monkeypatch)
    result = countmorl.auto(log, out=folder, budget="1h", **SILENT)
    assert result["choice"]["taken"] == "td3-bc epoch 2"
    assert 0 < result["judged"][0]["sure"] < 4.0  # Wider, for it was picked from seven.
    kept = next((folder / "runs").glob("td3-bc-*")) / "policies" / "epoch-2.safetensors"
    assert (folder / "policy.safetensors").read_bytes() == kept.read_bytes()
    assert "A policy that is better than the log" in (folder / "report.html").read_text()


def test_when_time_is_over_what_is_there_is_judged(done, tmp_path, monkeypatch):
    log, folder = again(done, tmp_path)
    state = json.loads((folder / "auto.json").read_text())
    (folder / "auto.json").write_text(json.dumps(state | {"spent": 3590.0}))
    shutil.rmtree(next((folder / "runs").glob("count-morl-*")))
    for path in (folder / "judgements").glob("*-epoch-1.json"):
        path.unlink()
    engines = make_tiny(monkeypatch)
    result = countmorl.auto(log, out=folder, budget="1h", **SILENT)
    assert engines == []
    assert result["skipped"] == ["td3-bc epoch 1"]
    assert {each["label"] for each in result["judged"]} == {"clone", "td3-bc"}
    assert result["tried"][2]["state"] == "no time for it"


def test_a_log_of_one_episode(tmp_path, monkeypatch):
    make_tiny(monkeypatch)
    write_linear_log(tmp_path / "one.npz", episodes=1)
    log = tmp_path / "one.npz"
    arrays = dict(np.load(log))
    long = {k: np.tile(v, (10, *[1] * (v.ndim - 1))) for k, v in arrays.items() if len(v) == 20}
    long["truncated"] = np.arange(200) == 199
    long["next_obs"] = np.concatenate([long["obs"][1:], long["obs"][:1]])
    np.savez(log, **arrays | long)
    result = countmorl.auto(log, out=tmp_path / "out", budget="1h", **SILENT)
    assert result["data"]["episodes"] == 1
    assert "nothing is set aside" in result["data"]["held"]
    assert result["choice"]["taken"] is None


class TestBadInput:
    def test_a_budget_that_is_none(self, done, tmp_path):
        with pytest.raises(ConfigError, match="must be a time such as"):
            countmorl.auto(done[0], out=tmp_path / "out", budget="half an hour", **SILENT)
        assert not (tmp_path / "out").exists()

    def test_a_budget_that_is_too_small_leaves_nothing(self, done, tmp_path, monkeypatch):
        make_tiny(monkeypatch)
        monkeypatch.setattr(Clock, "left", lambda self, share=1.0: 0.01)
        with pytest.raises(ConfigError, match="a clone and one other policy alone take"):
            countmorl.auto(done[0], out=tmp_path / "out", budget="1m", **SILENT)
        assert not (tmp_path / "out" / "auto.json").exists()

    def test_a_folder_with_other_things(self, done, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.tex").touch()
        with pytest.raises(RunError, match=r"holds other things \(thesis.tex\)"):
            countmorl.auto(done[0], out=tmp_path / "out", **SILENT)

    def test_a_folder_of_another_command(self, done, tmp_path):
        log, folder = again(done, tmp_path)
        with pytest.raises(ConfigError, match=r"budget was 3600.0 and is 7200.0"):
            countmorl.auto(log, out=folder, budget="2h", **SILENT)
        with pytest.raises(ConfigError, match="seed was 0 and is 1"):
            countmorl.auto(log, out=folder, budget="1h", seed=1, **SILENT)

    def test_all_rewards_equal(self, tmp_path):
        log = write_linear_log(tmp_path / "log.npz")
        arrays = dict(np.load(log))
        np.savez(log, **arrays | {"reward": np.ones(240)})
        with pytest.raises(DataError, match=r"Every logged reward of .* is 1 and no episode ends"):
            countmorl.auto(log, out=tmp_path / "out", **SILENT)

    def test_a_log_with_errors(self, tmp_path):
        log = write_linear_log(tmp_path / "log.npz")
        arrays = dict(np.load(log))
        arrays["reward"][7] = np.nan
        np.savez(log, **arrays)
        with pytest.raises(DataError, match="errors that would mislead"):
            countmorl.auto(log, out=tmp_path / "out", **SILENT)

    def test_workers(self, done):
        with pytest.raises(ConfigError, match="`workers` must be at least 1"):
            countmorl.auto(done[0], **SILENT | {"workers": 0})

    def test_a_damaged_judgement(self, done, tmp_path, monkeypatch):
        log, folder = again(done, tmp_path)
        (folder / "judgements" / "td3-bc-epoch-2.json").write_text('{"verdict": "better"}')
        make_tiny(monkeypatch)
        with pytest.raises(RunError, match="judgement of td3-bc epoch 2 in the folder is damaged"):
            countmorl.auto(log, out=folder, budget="1h", **SILENT)
