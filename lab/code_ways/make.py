import h5py, numpy as np
def cut(name, rows):
    with h5py.File(f"{name}-recipe.hdf5") as f:
        d = {k: f[k][:rows] for k in f}
    d["timeouts"][-1] = True
    return d
def write(path, d):
    with h5py.File(path, "w") as f:
        for k, v in d.items(): f[k] = v
b = cut("halfcheetah_medium", 20000)
write("halfcheetah_narrow.hdf5", b)
ends = b["terminals"] | b["timeouts"]
episode = np.concatenate([[0], np.cumsum(ends)[:-1]])
extra = np.random.default_rng(0).normal(size=(episode[-1] + 1, 14)).astype(np.float32)[episode]
a = dict(b)
for k in ("observations", "next_observations"): a[k] = np.concatenate([b[k], extra], axis=1)
write("identified_narrow.hdf5", a)
c = cut("hopper_medium_replay", 50000)
write("hopper_replay_50k.hdf5", c)
print(episode[-1] + 1, (c["terminals"] | c["timeouts"]).sum())
# As many identities as there are patients: episodes of 50 steps.
cuts = np.arange(len(b["rewards"])) // 50
d = dict(b); d["timeouts"] = np.arange(1, len(cuts) + 1) % 50 == 0
extra = np.random.default_rng(0).normal(size=(cuts[-1] + 1, 14)).astype(np.float32)[cuts]
for k in ("observations", "next_observations"): d[k] = np.concatenate([b[k], extra], axis=1)
write("patients_narrow.hdf5", d)
