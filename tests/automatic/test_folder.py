import json

import pytest

from countmorl.automatic.folder import AutoFolder
from countmorl.errors import ConfigError, RunError

ASK = {"budget": 60.0, "seed": 0}
COSTS = {"bc": {"update": 0.001, "start": 1.0}}
DECIDED = {"pull": 2.5, "scale": 0.25, "tried": 2, "seconds": 20.0, "costs": COSTS}


def test_a_new_folder_knows_nothing_and_remembers(tmp_path):
    folder = AutoFolder(tmp_path / "deep" / "out")
    with folder.lock():
        state = folder.state(ASK)
        assert state["spent"] == 0
        folder.write_state(state | DECIDED | {"spent": 9.5, "scale": 0.3})
    with folder.lock():
        assert folder.state(ASK)["scale"] == 0.3
        with pytest.raises(ConfigError, match=r"seed was 0 and is 1\. Repeat that one to go on"):
            folder.state(ASK | {"seed": 1})


def test_what_is_forgotten_leaves_room(tmp_path):
    folder = AutoFolder(tmp_path / "out")
    with folder.lock():
        folder.write_state(folder.state(ASK))
        folder.forget()
    with folder.lock():
        assert folder.state(ASK | {"seed": 1})["ask"]["seed"] == 1


def test_two_at_once(tmp_path):
    folder = AutoFolder(tmp_path / "out")
    with folder.lock():
        folder.write_state(folder.state(ASK))
        with pytest.raises(RunError, match="Another `countmorl auto` works in"), folder.lock():
            pass


def test_what_a_kill_left_is_removed(tmp_path):
    folder = AutoFolder(tmp_path)
    (tmp_path / ".auto.json.123.tmp").touch()
    with folder.lock():
        assert not (tmp_path / ".auto.json.123.tmp").exists()


def test_judgements_by_name(tmp_path):
    folder = AutoFolder(tmp_path)
    assert folder.judgement("td3-bc epoch 2") is None
    folder.write_judgement("td3-bc epoch 2", {"verdict": "worse"})
    assert folder.judgement("td3-bc epoch 2") == {"verdict": "worse"}


@pytest.mark.parametrize(
    "broken",
    [
        {"scale": None},
        {"scale": 1.5},
        {"costs": {"bc": {"start": 1.0}}},
        {"costs": {"bc": {"update": 1.0, "other": 1.0}}},
        {"costs": {"bc": {"update": -1.0}}},
        {"costs": {"bc": 3}},
        {"costs": [1]},
        {"scale": float("nan")},
        {"pull": "x"},
        {"tried": 2.5},
        {"tried": 0},
        {"tried": -1},
        {"spent": float("inf")},
        {"seconds": [1]},
    ],
)
def test_what_was_decided_is_checked_when_it_is_gone_on_from(tmp_path, broken):
    folder, whole = AutoFolder(tmp_path), {"format": 1, "ask": ASK, "spent": 1.0} | DECIDED
    folder.write_state(whole)
    assert folder.state(ASK) == whole
    folder.write_state(whole | broken)
    with pytest.raises(RunError, match="does not hold the state of a `countmorl auto`"):
        folder.state(ASK)


@pytest.mark.parametrize("missing", DECIDED)
def test_what_was_decided_is_there_whole(tmp_path, missing):
    state = {"format": 1, "ask": ASK, "spent": 1.0} | DECIDED
    del state[missing]
    AutoFolder(tmp_path).write_state(state)
    if missing == "scale":  # Then nothing was decided yet.
        assert AutoFolder(tmp_path).state(ASK) == state
        return
    with pytest.raises(RunError, match="does not hold the state"):
        AutoFolder(tmp_path).state(ASK)


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": 1, "ask": 3, "spent": 0}', "{"])
def test_a_damaged_state(tmp_path, text):
    (tmp_path / "auto.json").write_text(text)
    with pytest.raises(RunError, match=r"auto\.json"):
        AutoFolder(tmp_path).state(ASK)


def test_links_are_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "auto.json").write_text(json.dumps({}))
    (tmp_path / "out" / "result.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="is a link"), AutoFolder(tmp_path / "out").lock():
        pass
