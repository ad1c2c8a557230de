"""A bundle answers with the action and why, and refuses what it cannot answer."""

import json
import shutil

import numpy as np
import pytest

from bundles import CLINIC, HISTORY, OFFERS, made
from countmorl.errors import CountMorlError, DataError, RunError
from countmorl.export.bundle import write_sums
from countmorl.runtime.bundle import load_bundle
from countmorl.runtime.guard import GuardSettings

ROW = {"glucose": 141, "ward": "ICU"}
ALWAYS = GuardSettings(threshold=1e9, fall_back="fixed", fixed=(1.5,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("made") / "bundle"
    made(where)
    return where


@pytest.fixture(scope="module")
def bundle(folder):
    return load_bundle(folder)


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


def test_a_row_an_observation_and_a_batch_agree(bundle):
    action, why = bundle.act_row(ROW)
    obs = np.float32([141, 0, 0, 1])
    vector, same = bundle.act(obs)
    many, all_why = bundle.act(np.stack([obs, obs]))
    assert action == {"dose": pytest.approx(float(vector[0]))}
    np.testing.assert_array_equal(many, [vector, vector])
    found = bundle.counts.counts(obs[None], vector[None])
    assert why.count == same.count == all_why.count[0] == found.count[0]
    assert why.level == same.level == all_why.level[1] == found.level[0]
    assert (why.fell_back, why.reason) == (False, "")
    assert bundle.act_rows([ROW, ROW])[1][0] == action
    named = bundle.act({"ward=ICU": 1, "ward=B": 0, "ward=A": 0, "glucose": 141})
    np.testing.assert_array_equal(named[0], vector)


BAD_ROWS = {
    "a missing column": {"glucose": 141},
    "a missing column with a slip": {"glucose": 141, "wrad": "A"},
    "an unknown category": {"glucose": 141, "ward": "Z"},
    "another case": {"glucose": 141, "ward": "icu"},
    "NaN": {"glucose": float("nan"), "ward": "A"},
    "nothing": {"glucose": None, "ward": "A"},
    "text": {"glucose": "high", "ward": "A"},
    "a comma": {"glucose": "14,1", "ward": "A"},
    "infinity": {"glucose": float("inf"), "ward": "A"},
    "a list": {"glucose": [1, 2], "ward": "A"},
    "far above": {"glucose": 4000, "ward": "A"},
    "far below": {"glucose": -900, "ward": "A"},
    "beyond 32 bits": {"glucose": 1e300, "ward": "A"},
    "no mapping": [141, "A"],
    "a text alone": "glucose=141",
    "no row": None,
    "empty": {},
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_rows_that_nobody_can_act_on(bundle, name):
    with pytest.raises(DataError):
        bundle.act_row(BAD_ROWS[name])


BAD_OBSERVATIONS = {
    "too short": [141.0, 0, 0],
    "too long": [141.0, 0, 0, 1, 1],
    "NaN": [np.nan, 0, 0, 1],
    "infinite": [np.inf, 0, 0, 1],
    "text": ["a", 0, 0, 1],
    "far": [4000.0, 0, 0, 1],
    "far in one of many": [[141.0, 0, 0, 1], [141.0, 0, 0, 99]],
    "ragged": [[141.0], [141.0, 0, 0, 1]],
    "a scalar": 141.0,
    "a cube": [[[141.0, 0, 0, 1]]],
    "other names": {"glucose": 141, "ward": "A"},
    "nothing": None,
}


@pytest.mark.parametrize("name", BAD_OBSERVATIONS)
def test_observations_that_nobody_can_act_on(bundle, name):
    with pytest.raises(DataError):
        bundle.act(BAD_OBSERVATIONS[name])


def test_what_is_far_is_said(bundle):
    with pytest.raises(DataError, match=r"'glucose' is 4000, far outside the 4\d.* to 39\d"):
        bundle.act_row({"glucose": 4000, "ward": "A"})


def test_the_guard_acts_where_too_little_was_logged(tmp_path):
    guarded = made(tmp_path / "bundle", guard=ALWAYS)
    action, why = guarded.act_row(ROW)
    assert (action, why.fell_back) == ({"dose": 1.5}, True)
    assert why.count >= 0
    # What is far was never seen, whatever code it shares.
    action, why = guarded.act_row({"glucose": 4000, "ward": "A"})
    assert (action, why.count, why.level, why.fell_back) == ({"dose": 1.5}, 0.0, "unseen", True)
    assert why.reason.startswith("'glucose' is 4000, far outside")


def test_a_clone_falls_back_too(tmp_path):
    guarded = made(tmp_path / "bundle", guard=GuardSettings(threshold=1e9))
    obs = np.float32([141, 0, 0, 1])
    np.testing.assert_array_equal(guarded.act(obs)[0], guarded.guard.clone.act(obs))


def test_rows_that_cannot_be_read_are_left_to_the_fall_back(tmp_path):
    guarded = made(tmp_path / "bundle", guard=ALWAYS, unreadable="fall_back")
    for row in (BAD_ROWS["a missing column"], BAD_ROWS["an unknown category"], BAD_ROWS["NaN"]):
        action, why = guarded.act_row(row)
        assert (action, why.level, why.fell_back) == ({"dose": 1.5}, "unseen", True)
        assert "ward" in why.reason or "glucose" in why.reason


def test_who_abstains_gives_no_action(tmp_path):
    abstains = GuardSettings(threshold=1e9, fall_back="abstain")
    for head, schema in (("tanh", CLINIC), ("categorical", OFFERS)):
        session = made(tmp_path / head, head=head, schema=schema, guard=abstains).session()
        action, why = session.act_row(ROW)
        assert action is None
        assert why.fell_back


def test_with_history_a_person_says_what_was_done(tmp_path):
    abstains = GuardSettings(threshold=1e9, fall_back="abstain")
    session = made(tmp_path / "bundle", schema=HISTORY, guard=abstains).session()
    session.act_row(ROW)
    with pytest.raises(DataError, match="left to a person"):
        session.act_row(ROW)
    session.executed({"dose": 2})
    assert session.act_row(ROW)[0] is None


def test_what_is_held_is_the_last_action(tmp_path):
    holds = GuardSettings(threshold=1e9, fall_back="hold", fixed=(0.5,))
    session = made(tmp_path / "bundle", guard=holds, unreadable="fall_back").session()
    assert session.act_row({})[0] == {"dose": 0.5}  # Nothing was done yet.
    assert session.act_row(ROW)[0] == {"dose": 0.5}


def test_sessions_remember_what_was_seen_and_done(tmp_path):
    bundle = made(tmp_path / "bundle", schema=HISTORY)
    with pytest.raises(DataError, match="looks at the last 3 observations"):
        bundle.act_row(ROW)
    session = bundle.session()
    first, _ = session.act_row(ROW)
    second, why = session.act_row({"glucose": 150, "ward": "A"})
    now, earlier = [150, 1, 0, 0], [141, 0, 0, 1]
    whole = np.float32([*now, *earlier, first["dose"], *earlier, 0.0])
    vector, same = bundle.act(whole)
    assert second["dose"] == pytest.approx(float(vector[0]))
    assert why.count == same.count
    session.executed({"dose": 3})
    session.see({"glucose": 151, "ward": "A"})
    by_number, _ = session.act(np.float32([160, 1, 0, 0]))
    assert by_number.shape == (1,)


def test_without_names_there_are_no_rows(tmp_path):
    bundle = made(tmp_path / "bundle", schema=None)
    with pytest.raises(DataError, match="had no names of columns"):
        bundle.act_row(ROW)
    with pytest.raises(DataError, match="had no names of columns"):
        bundle.session().act_row(ROW)


def test_without_counts_nothing_is_known(tmp_path):
    bundle = made(tmp_path / "bundle", counter=None)
    _, why = bundle.act_row(ROW)
    assert (why.count, why.level, why.fell_back) == (None, None, False)
    _, why = bundle.act(np.float32([[141, 0, 0, 1]] * 2))
    assert why.level.tolist() == [None, None]


def spoil(folder, name, change):
    """Change a bundle's JSON, and its digests with it, as an attacker would."""
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    write_sums(folder)


CONTRACTS = {
    "format": {"format": 9},
    "another size": {"observation": [{"name": "a", "unit": "", "low": 0.0, "high": 1.0}]},
    "no observation": {"observation": []},
    "an unknown field": {"surprise": 1},
    "NaN in a range": {"reach": float("nan")},
    "a guard without counts": {"counts": None, "guard": None, "far": "fall_back"},
    "counts that are not there": {"counts": "neighbours"},
    "counts of a table": {"counts": "tabular"},
    "actions of another kind": {"discrete": True},
    "no schema's size": {"schema": None, "history": 0},
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_contracts_that_do_not_belong_to_the_bundle(copy, name):
    spoil(copy, "contract.json", CONTRACTS[name])
    with pytest.raises(RunError):
        load_bundle(copy)


def test_every_change_of_a_file_is_found(copy):
    for path in sorted(copy.iterdir()):
        content = path.read_bytes()
        path.write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])
        with pytest.raises(RunError, match=r"is not the file that was exported|damaged"):
            load_bundle(copy)
        path.write_bytes(content)
    load_bundle(copy)


@pytest.mark.parametrize(
    "name", ["contract.json", "SHA256SUMS", "policy.safetensors", "runtime.py"]
)
def test_a_file_is_missing(copy, name):
    (copy / name).unlink()
    with pytest.raises(RunError):
        load_bundle(copy)


SUMS = {
    "empty": b"",
    "no text": b"\xff\xfe",
    "a path": b"0" * 64 + b"  ../contract.json\n",
    "no digest": b"abc  contract.json\n",
    "another file alone": b"0" * 64 + b"  README.md\n",
}


@pytest.mark.parametrize("name", SUMS)
def test_digests_that_are_none(copy, name):
    (copy / "SHA256SUMS").write_bytes(SUMS[name])
    with pytest.raises(RunError, match=r"SHA256SUMS is damaged"):
        load_bundle(copy)


def test_a_file_that_has_no_digest_is_not_trusted(copy):
    sums = (copy / "SHA256SUMS").read_text().splitlines(keepends=True)
    (copy / "SHA256SUMS").write_text("".join(s for s in sums if "counts.safetensors" not in s))
    with pytest.raises(RunError, match=r"has no digest of counts\.safetensors"):
        load_bundle(copy)


@pytest.mark.parametrize("name", ["policy.safetensors", "counts.safetensors"])
def test_arrays_damaged_together_with_their_digest(copy, name):
    content = (copy / name).read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(content), 25):
        (copy / name).write_bytes(content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :])
        write_sums(copy)
        with pytest.raises(CountMorlError):
            load_bundle(copy)


@pytest.mark.parametrize("given", ["nothing", "a file", "a run"])
def test_what_is_no_bundle(tmp_path, given):
    path = tmp_path / given
    if given == "a file":
        path.write_text("x")
    if given == "a run":
        path.mkdir()
        (path / "config.json").write_text("{}")
    with pytest.raises(RunError, match="is not a bundle"):
        load_bundle(path)
