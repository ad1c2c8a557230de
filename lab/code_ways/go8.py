import sys, json, pickle, time
from ways import *
run, task, group = sys.argv[1:4]
trial = Trial(run, task)
print(run, {n: (int((trial.policy == n).sum()), round(float(np.median(trial.error[trial.policy == n])), 3)) for n in dict.fromkeys(trial.policy)})
m = trial.moving(); print("moving", np.round(m, 2)); print("perm", np.round(trial.moved(), 3)); 
for k, v in trial.base.items(): show(k, summary(trial, v))
B = Way()
GROUPS = {
 "two": {"plain 16": B, "within": replace(B, weights="within"), "perm": replace(B, weights="perm"), "within, err even": replace(B, weights="within", err="even"), "last": replace(B, layer="last"), "target change": replace(B, target="change"), "plain 12": replace(B, bits=12), "last, within": replace(B, layer="last", weights="within"), "plain 24": replace(B, bits=24), "grad2": replace(B, weights="grad2"), "within 24": replace(B, bits=24, weights="within")},
 "b": {"within": replace(B, weights="within"), "perm": replace(B, weights="perm")},
 "one": {
  "plain 16": B, "plain 12": replace(B, bits=12), "plain 24": replace(B, bits=24),
  "change": replace(B, weights="change"), "changerel": replace(B, weights="changerel"),
  "changerel, err even": replace(B, weights="changerel", err="even"),
  "still": replace(B, weights="still"), "grad": replace(B, weights="grad"), "grad2": replace(B, weights="grad2"), "perm": replace(B, weights="perm"),
  "grad, err even": replace(B, weights="grad", err="even"),
  "target change": replace(B, target="change"), "target both": replace(B, target="both"),
  "first": replace(B, layer="first"), "third": replace(B, layer="third"), "last": replace(B, layer="last"), "inputs": replace(B, layer="inputs"),
  "last, changerel": replace(B, layer="last", weights="changerel"),
  "third, change target": replace(B, layer="third", target="change"),
  "noise 1": replace(B, noise=1.0),
 },
}
import os
ORDER = os.environ.get("FIRST", "")
def singles():
    for name, way in GROUPS[group].items():
        t = time.time(); auto, w = trial.fit(way); jax.block_until_ready(auto); took = time.time() - t
        out, counts = measure(trial, way, auto, w); out["took"] = took
        show(f"{name} ({took:.0f}s)", out)
        json.dump({"run": run, "name": name} | out, open("found.jsonl", "a")); open("found.jsonl", "a").write("\n")
        if name == "plain 16":
            for soft in (0.25, 1.0):
                way2 = replace(way, soft=soft); out, _ = measure(trial, way2, auto, w); show(f"soft {soft}", out)
def nested():
    if group in ("one", "two", "b"):
        for nb, kw in (("nested 32", {}), ("nested 32 perm", {"weights": "perm"}), ("nested 32 changerel", {"weights": "changerel"})):
            way = replace(B, bits=32, nested=True, **kw)
            t = time.time(); auto, w = trial.fit(way); jax.block_until_ready(auto); took = time.time() - t
            vs = []
            for length in (8, 12, 16, 20, 24, 32):
                out, counts = measure(trial, way, auto, w, length); vs.append(pen(counts("audit", True)))
                show(f"{nb} at {length} ({took:.0f}s)", out)
                json.dump({"run": run, "name": f"{nb} at {length}"} | out, open("found.jsonl", "a")); open("found.jsonl", "a").write("\n")
            show(f"{nb} 8-16-24 averaged", summary(trial, (vs[0] + vs[2] + vs[4]) / 3))
            show(f"{nb} 12-16-20 averaged", summary(trial, (vs[1] + vs[2] + vs[3]) / 3))

def one(name, way, lengths=(None,)):
    t = time.time(); auto, w = trial.fit(way); jax.block_until_ready(auto); took = time.time() - t
    for length in lengths:
        out, counts = measure(trial, way, auto, w, length)
        label = name if length is None else f"{name} at {length}"
        show(f"{label} ({took:.0f}s)", out)
        json.dump({"run": run, "name": label} | out, open("found5.jsonl", "a")); open("found5.jsonl", "a").write("\n")
N = replace(B, bits=32, nested=True); L = (8, 12, 16, 20, 24, 32)
W = replace(N, weights="within"); S = (8, 12, 16, 24, 32)
Z = replace(W, target="both"); S = (8, 12, 16, 24, 32)
one("both within", Z, S); one("both within noise 0.5", replace(Z, noise=0.5), S); one("both within, change x4", replace(Z, share=4.0), S)
one("plain 16, both", replace(B, target="both"))
