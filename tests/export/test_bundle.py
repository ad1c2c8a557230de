"""From a run to a bundle: what its contract says, what is refused, and another language."""

import hashlib
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import countmorl
from bundles import parts_of
from countmorl import train
from countmorl.errors import ConfigError, RunError
from countmorl.export.bundle import ExportConfig, add_graph, export, load, write_bundle
from countmorl.export.parity import graph_runner
from countmorl.runtime.guard import Guard, GuardSettings
from small_runs import QUIET, small, vector_log

PLAIN = ExportConfig(onnx=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    log = vector_log()
    np.savez(folder / "log.npz", **log)
    config = small("count-morl", epochs=1)
    return train(config, folder / "log.npz", out=folder / "run", **QUIET)


def test_a_bundle_of_a_run(run, tmp_path):
    out, log = export(run, tmp_path / "bundle", config=PLAIN), vector_log()
    bundle = load(out)
    action, why = bundle.act(log["obs"])
    np.testing.assert_allclose(action, countmorl.load_policy(run.path).act(log["obs"]), atol=1e-5)
    wanted = countmorl.counts(run)(log["obs"], action)
    np.testing.assert_allclose(why.count, wanted.estimates["AVG"], rtol=1e-5)
    contract = bundle.contract
    assert contract.origin.dataset_hash == run.manifest.data.hash
    lows = [each.low for each in contract.observation]
    np.testing.assert_allclose(lows, log["obs"].min(axis=0))
    assert [(each.name, each.low, each.high) for each in contract.action] == [("action[0]", 0, 2)]
    sums = dict(
        reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text().splitlines()
    )
    for path in out.iterdir():
        if path.name != "SHA256SUMS":
            assert sums[path.name] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_was_judged_is_told(run, tmp_path):
    copy = countmorl.Run(shutil.copytree(run.path, tmp_path / "copy"))
    said = {
        "verdict": "better",
        "sentence": "It is better.",
        "gain": [1.0, 2.0],
        "behaviour": {"value": 3.0, "unit": "return"},
    }
    (copy.path / "judgement.json").write_text(json.dumps(said))
    judged = load(export(copy, tmp_path / "bundle", config=PLAIN)).contract.judged
    assert (judged.verdict, judged.gain, judged.behaviour) == ("better", (1.0, 2.0), 3.0)
    open_ = {"gain": [float("-inf"), 2.0], "behaviour": {"value": float("nan")}}
    (copy.path / "judgement.json").write_text(json.dumps(said | open_))
    judged = load(export(copy, tmp_path / "bounds", config=PLAIN)).contract.judged
    assert (judged.gain, judged.behaviour) == (None, None)
    (copy.path / "judgement.json").write_text("{}")
    with pytest.raises(RunError, match=r"judgement.json is damaged"):
        export(copy, tmp_path / "other", config=PLAIN)


def test_the_guard_goes_along(run, tmp_path):
    copy = countmorl.Run(shutil.copytree(run.path, tmp_path / "copy"))
    policy, counts = countmorl.load_policy(copy.path), load_counts(copy)
    settings = GuardSettings(threshold=1e9, fall_back="fixed", fixed=(1.0,))
    Guard(policy=policy, counts=counts, settings=settings).save(copy.path)
    bundle = load(export(copy, tmp_path / "bundle", config=PLAIN))
    assert (bundle.contract.far, bundle.contract.guard.fall_back) == ("fall_back", "fixed")
    action, why = bundle.act(vector_log()["obs"][0])
    assert (action.tolist(), why.fell_back) == ([1.0], True)
    free = load(export(copy, tmp_path / "free", config=replace(PLAIN, guard=False)))
    assert free.contract.guard is None


def load_counts(run):
    return countmorl.runtime.counts.Counts.of_run(run.path)


def test_nothing_is_left_of_a_bundle_that_fails(run, tmp_path):
    for config in (replace(PLAIN, far="fall_back"), replace(PLAIN, unreadable="fall_back")):
        with pytest.raises(ConfigError, match="Without a guard there is no fall-back"):
            export(run, tmp_path / "bundle", config=config)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    with pytest.raises(RunError, match="exists already"):
        export(run, tmp_path / "taken", config=PLAIN)
    with pytest.raises(RunError, match="exists already"):
        export(run, tmp_path / "taken" / "mine.txt", config=PLAIN)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_no_run_no_policy_no_data(run, tmp_path):
    with pytest.raises(RunError, match="There is no run folder"):
        export(tmp_path / "nothing", tmp_path / "bundle", config=PLAIN)
    copy = countmorl.Run(shutil.copytree(run.path, tmp_path / "copy"))
    with pytest.raises(countmorl.DataError, match="--data"):
        export(copy, tmp_path / "bundle", config=PLAIN, data=str(tmp_path / "gone.npz"))
    copy.policy_path.unlink()
    with pytest.raises(RunError, match=r"holds no policy.safetensors"):
        export(copy, tmp_path / "bundle", config=PLAIN)


NODE = """
const ort = require("onnxruntime-web");
ort.env.wasm.numThreads = 1;
const fs = require("fs");
const how = { executionProviders: ["wasm"] };
ort.InferenceSession.create(process.argv[2], how).then(async (session) => {
  const asked = JSON.parse(fs.readFileSync(0, "utf8"));
  const numbers = Float32Array.from(asked.flat());
  const obs = new ort.Tensor("float32", numbers, [asked.length, asked[0].length]);
  const found = await session.run({ obs });
  const lists = Object.entries(found).map(([name, each]) => [name, Array.from(each.data, Number)]);
  console.log(JSON.stringify(Object.fromEntries(lists)));
});
"""


def node_with_onnx():
    """Where Node finds onnxruntime-web, or None."""
    node = shutil.which("node")
    if node is None:
        return None
    found = subprocess.run(
        [node, "-e", "console.log(require.resolve('onnxruntime-web'))"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    return node if found.returncode == 0 else None


def test_another_language_gives_the_same(tmp_path):
    pytest.importorskip("onnxruntime")
    node = node_with_onnx()
    if node is None:
        pytest.skip(
            "Node with onnxruntime-web is not there: npm install onnxruntime-web, and NODE_PATH "
            "set to its node_modules"
        )
    parts, contract, logged = parts_of()
    folder = tmp_path / "bundle"
    folder.mkdir()
    write_bundle(folder, parts, contract)
    add_graph(folder, logged)
    script = tmp_path / "run.cjs"
    script.write_text(NODE)
    done = subprocess.run(
        [node, str(script), str(folder / "policy.onnx")],
        input=json.dumps(logged[:100].tolist()),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found, wanted = (
        json.loads(done.stdout),
        graph_runner(Path(folder) / "policy.onnx")(logged[:100]),
    )
    assert found["count"] == wanted["count"].tolist()
    assert found["level"] == wanted["level"].tolist()
    np.testing.assert_allclose(found["action"], wanted["action"].ravel(), atol=1e-6)
