"""Ways of coding, on one fitted model, by an audit: python ways.py RUN TASK [names...]."""
import itertools, json, sys, time
from dataclasses import dataclass, replace
from pathlib import Path
import equinox as eqx, jax, jax.numpy as jnp, jax.random as jr, numpy as np, optax
from scipy.stats import spearmanr, mannwhitneyu
from countmorl import trees
from countmorl.counting.codes import Autoencoder
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.rollouts import PenalizedModel
from countmorl.scaling import Standardizer
from countmorl.studies import audit as A
from countmorl.studies.audit_parts import parts_of
from countmorl.studies.audit_policies import policies_of
from countmorl.training.behaviour import imagined_pairs
from countmorl.agents.clone import cloned

LAYERS = ("first", "second", "third", "last")

@dataclass(frozen=True)
class Way:
    bits: int = 16
    layer: str = "second"      # or "inputs" / "heads"
    target: str = "pair"       # pair | change (action and predicted change) | both
    weights: str = "even"      # even | change | change2 | within | grad
    floor: float = 0.01
    nested: bool = False
    updates: int = 4000
    noise: float = 0.0
    soft: float = 0.0
    err: str = "own"           # own (weighted as fitted) | even
    seed: int = 0
    share: float = 1.0

@eqx.filter_jit
def features(ensemble, x, layer):
    def block(rows, _):
        def one(net):
            h = rows
            for i in range(1 + LAYERS.index(layer)):
                h = net.layer(i, h)
            return h
        return jax.vmap(one)(ensemble.elite_members)
    return trees.in_blocks(block, x, axis=1)

@eqx.filter_jit
def heads(ensemble, x):
    def block(rows, _):
        return jax.vmap(GaussianNet.head)(ensemble.elite_members, ensemble.trunks(rows))[0]
    return trees.in_blocks(block, x, axis=1)

class Trial:
    def __init__(self, run, task, starts=100, horizon=20):
        p = self.parts = parts_of(Path(run), task=task)
        self.obs_dim = p.dataset.obs_dim
        self.e = p.model.ensemble
        self.sets = {"train": p.rows.x, "held": p.rows.holdout_x}
        sim = A.simulator_for(p)
        config = A.AuditConfig(starts=starts, horizon=horizon)
        xs, err, pol, step, base = [], [], [], [], []
        judge = A.Judge.of(self.e, {}, 0.5, p.rows.x, p.scale)
        for n, (name, act) in enumerate(policies_of(p.run, p.dataset, updates=3000, seed=0).items()):
            rolled = A._roll(p.model, act, A._starts(p, config), horizon, jr.fold_in(jr.key(0), n))
            s = A._sample(name, rolled, starts, p, judge, sim)
            x = np.asarray(self.e.standardize(rolled.steps.obs, rolled.steps.action))
            from countmorl.types import Transition
            steps = Transition(*(np.asarray(each) for each in rolled.steps))
            known = A._truth(steps, np.asarray(rolled.live), p, sim)[2]
            xs.append(x[known]); err.append(s.error); pol.append(s.policy); step.append(s.step)
            base.append(s.penalties)
        self.sets["audit"] = jnp.asarray(np.concatenate(xs))
        self.error, self.policy, self.step = map(np.concatenate, (err, pol, step))
        self.base = {k: np.concatenate([b[k] for b in base]) for k in base[0]}
        clone = cloned(p.dataset, updates=3000, seed=1)
        self.sets["clone"] = imagined_pairs(p.model, clone, p.dataset, horizon=25, seed=1)[:4000]
        rng = np.random.default_rng(3)
        held = np.asarray(p.rows.holdout_x)
        o = self.obs_dim
        for part, cols in (("obs", slice(0, o)), ("act", slice(o, None))):
            for d in (0.1, 0.3, 1.0):
                y = held.copy(); y[:, cols] += d * rng.normal(size=y[:, cols].shape)
                self.sets[f"{part} {d}"] = jnp.asarray(y, jnp.float32)
        moving = self.moving()
        y = held.copy(); y[:, :o][:, moving[:o] > .01] += 0.3 * rng.normal(size=(len(y), (moving[:o] > .01).sum()))
        self.sets["moving 0.3"] = jnp.asarray(y, jnp.float32)
        if (moving[:o] <= .01).any():
            y = held.copy(); still = np.flatnonzero(moving[:o] <= .01)
            y[:, still] = rng.normal(size=(len(y), len(still)))
            self.sets["new episode"] = jnp.asarray(y, jnp.float32)
        mean, std = np.asarray(self.e.standardizer.mean), np.asarray(self.e.standardizer.std)
        for c in range(held.shape[1]):
            y = held[:200].copy(); y[:, c] = (1000 * (y[:, c] * std[c] + mean[c]) - mean[c]) / std[c]
            self.sets[f"x1000 {c}"] = jnp.asarray(y, jnp.float32)
        self.cache = {}

    def moving(self):
        """How much each input column changes in a step, in its own deviations."""
        change = np.asarray(self.e.targets.std)[:-1] / np.asarray(self.e.standardizer.std)[: self.obs_dim]
        return np.concatenate([change, np.ones(len(self.e.standardizer.std) - self.obs_dim)])

    def weights(self, way):
        m = self.moving(); o = self.obs_dim
        if way.weights == "even": w = np.ones_like(m)
        elif way.weights == "change": w = np.minimum(m, 1) ** 2
        elif way.weights == "changerel":
            w = m.copy(); w[:o] /= w[:o].max(); w = w ** 2
        elif way.weights == "changerel1":
            w = m.copy(); w[:o] /= w[:o].max()
        elif way.weights == "change1": w = np.minimum(m, 1)
        elif way.weights == "grad":
            g = self.gradients(); w = g.copy(); w /= w.max()
        elif way.weights == "grad2":
            g = self.gradients(); w = g ** 2; w /= w.max()
        elif way.weights in ("perm", "perm1"):
            w = self.moved(); w = w / w.max(); w = np.sqrt(w) if way.weights == "perm1" else w
        elif way.weights == "within":
            d = self.parts.dataset; ends = np.asarray(d.episode_ends); obs = np.asarray(d.obs, np.float64)
            ep = np.searchsorted(ends, np.arange(len(obs)))
            n = np.bincount(ep); mean = np.stack([np.bincount(ep, obs[:, c]) / n for c in range(o)], axis=1)
            w = np.ones_like(m); w[:o] = np.mean(np.square(obs - mean[ep]), axis=0) / obs.var(axis=0)
            print("within", np.round(w, 2))
        elif way.weights == "still":
            w = (m > 0.01).astype(float)
        w = np.maximum(w, way.floor)
        return w / w.mean()

    def moved(self):
        """Mean square change of the predicted targets where a column is another row's."""
        x = np.asarray(self.sets["train"])[::10]; order = np.random.default_rng(0).permutation(len(x))
        base = np.asarray(heads(self.e, jnp.asarray(x))); out = []
        for c in range(x.shape[1]):
            y = x.copy(); y[:, c] = x[order, c]
            out.append(np.mean(np.square(np.asarray(heads(self.e, jnp.asarray(y))) - base)))
        return np.array(out)

    def gradients(self):
        """Root mean square of the predicted targets' slope over each input, elites' mean."""
        if "grad" not in self.__dict__:
            def f(x):
                return jax.vmap(GaussianNet.head)(self.e.elite_members, self.e.trunks(x[None]))[0].mean(axis=0)[0]
            J = eqx.filter_jit(jax.vmap(jax.jacobian(f)))(self.sets["train"][::40])
            self.grad = np.sqrt(np.mean(np.square(np.asarray(J)), axis=(0, 1)))
        return self.grad

    def inputs(self, name, layer):
        key = (name, layer)
        x = self.sets[name]
        if layer == "inputs":
            return jnp.broadcast_to(x, (len(self.e.elites), *x.shape))
        if key not in self.cache:
            found = features(self.e, x, layer)
            if not name.startswith("x1000"): self.cache[key] = found
            return found
        return self.cache[key]

    def target(self, name, kind):
        x = self.sets[name]; n = len(self.e.elites)
        pair = jnp.broadcast_to(x, (n, *x.shape))
        if kind == "pair": return pair
        h = heads(self.e, x)
        live = np.asarray(self.e.targets.std) > 0
        change = h[..., live]
        if kind == "change": return jnp.concatenate([change, pair[..., self.obs_dim:]], axis=-1)
        return jnp.concatenate([pair, change], axis=-1)

    def fit(self, way):
        h, t = self.inputs("train", way.layer), self.target("train", way.target)
        std = h.std(axis=1); scale = Standardizer(h.mean(axis=1), jnp.where(std < 1e-6, 1.0, std))
        w = jnp.asarray(self.weights(way), jnp.float32) if way.target == "pair" else jnp.ones(t.shape[-1])
        if way.target == "both":
            w = jnp.concatenate([jnp.asarray(self.weights(way), jnp.float32), way.share * jnp.ones(t.shape[-1] - len(self.weights(way)))])
        keys = jr.split(jr.key(way.seed), len(h) + 1)
        make = lambda s, k: Autoencoder.make(s, way.bits, h.shape[-1], t.shape[-1], key=k)
        auto = jax.vmap(make)(scale, keys[1:])
        parts = train((auto.encoder, auto.decoder), scale, h, t, w, keys[0], (way.bits, way.nested, way.updates, way.noise))
        return Autoencoder(scale, *parts), w

    def ask(self, auto, w, way, length=None):
        out = {}
        for name in self.sets:
            h, t = self.inputs(name, way.layer), self.target(name, way.target)
            ww = jnp.ones_like(w) if way.err == "even" else w
            if way.target == "both":
                ww = (jnp.arange(len(w)) < self.sets["train"].shape[1]) * len(w) / self.sets["train"].shape[1]
            words, errs = asked(auto, h, t, ww, jnp.asarray(length or way.bits))
            out[name] = (np.asarray(words), np.asarray(errs))
        return out

@eqx.filter_jit
def asked(auto, h, t, w, length):
    def one(a, h, t):
        def block(rows, _):
            h, t = rows
            z = a.logits(h)
            keep = jnp.arange(z.shape[-1]) < length
            dec = a.decoder(jax.nn.sigmoid(z) * keep)
            word = jnp.sum(((z > 0) & keep).astype(jnp.uint32) << jnp.arange(z.shape[-1], dtype=jnp.uint32), axis=-1, dtype=jnp.uint32)
            return word, jnp.mean(w * jnp.square(dec - t), axis=-1)
        return trees.in_blocks(block, (h, t))
    return jax.lax.map(lambda z: one(*z), (auto, h, t))

@eqx.filter_jit
def train(parts, scale, h, t, w, key, how):
    bits, nested, updates, noise = how
    opt = optax.adam(1e-3)
    def loss(parts, hb, tb, keep, jolt):
        a = Autoencoder(scale, *parts)
        def one(a, h, t):
            z = a.logits(h)
            return jnp.mean(w * jnp.square(a.decoder(jax.nn.sigmoid(z + jolt) * keep) - t))
        return jnp.sum(jax.vmap(one)(a, hb, tb))
    def step(carry, k):
        parts, s = carry
        rows = jr.randint(k, (256,), 0, h.shape[1])
        keep = jnp.ones((1, bits))
        if nested:
            lengths = jr.randint(jr.fold_in(k, 2), (256, 1), 1, bits + 1)
            keep = (jnp.arange(bits) < lengths).astype(jnp.float32)
        jolt = noise * jr.normal(jr.fold_in(k, 1), (256, bits)) if noise else 0.0
        g = jax.grad(loss)(parts, h[:, rows], t[:, rows], keep, jolt)
        d, s = opt.update(g, s)
        return (optax.apply_updates(parts, d), s), None
    return jax.lax.scan(step, (parts, opt.init(parts)), jr.split(key, updates))[0][0]

def lookup(table, words):
    keys, counts = table
    at = np.clip(np.searchsorted(keys, words), 0, len(keys) - 1)
    return np.where(keys[at] == words, counts[at], 0)

def pen(counts): return (1 / np.sqrt(np.maximum(1, counts))).mean(axis=0)
def auc(far, near):
    return float(mannwhitneyu(far, near).statistic / (len(far) * len(near)))
def rank(v, e):
    return float(spearmanr(v, e).statistic) if np.ptp(v) > 0 else 0.0

def summary(trial, value, prefix=""):
    e, p = trial.error, trial.policy
    worst = e >= np.quantile(e, 0.9)
    inside = [rank(value[p == n], e[p == n]) for n in dict.fromkeys(p)]
    return {prefix + "rank": rank(value, e), prefix + "auc": auc(value[worst], value[~worst]), prefix + "within": float(np.mean(inside))}

def measure(trial, way, auto, w, length=None):
    bits = length or way.bits
    got = trial.ask(auto, w, way, bits)
    tables = [np.unique(words, return_counts=True) for words in got["train"][0]]
    limits = np.quantile(got["train"][1], 0.99, axis=1)
    def counts(name, verified):
        words, errs = got[name]
        c = np.stack([lookup(t, m) for t, m in zip(tables, words)]).astype(float)
        if way.soft:
            for b in range(bits):
                flip = np.uint32(1 << b)
                c += way.soft * np.stack([lookup(t, m ^ flip) for t, m in zip(tables, words)])
        return np.where(errs <= limits[:, None], c, 0) if verified else c
    def unknown(name):
        c = counts(name, True)
        return float((2 * (c < 1).sum(axis=0) > len(c)).mean())
    out = {"rows/code": float(np.median([len(trial.sets["train"]) / len(t[0]) for t in tables]))}
    v = pen(counts("audit", True))
    out |= summary(trial, v)
    out |= summary(trial, pen(counts("audit", False)), "plain ")
    out |= summary(trial, got["audit"][1].mean(axis=0), "dec ")
    spread = trial.base["elites' spread"]
    c = counts("audit", True); un = 2 * (c < 1).sum(axis=0) > len(c)
    out |= summary(trial, np.where(un, 1e6 + spread, spread), "spr ")
    near = pen(counts("held", True))
    for name in trial.sets:
        if name.startswith(("obs", "act", "moving", "new")):
            out["~" + name] = auc(pen(counts(name, True)), near)
    out["drift"] = float(np.mean([out[k] for k in out if k.startswith("~") and "new" not in k]))
    big = [unknown(n) for n in trial.sets if n.startswith("x1000")]
    out["x1000 min"], out["x1000 mean"] = min(big), float(np.mean(big))
    out["held unv"], out["clone unv"] = unknown("held"), unknown("clone")
    if "new episode" in trial.sets: out["new unv"] = unknown("new episode")
    return out, counts

COLS = ["rows/code", "rank", "auc", "within", "plain rank", "plain auc", "dec rank", "dec auc", "spr rank", "spr auc", "drift", "~obs 0.3", "~act 0.3", "~moving 0.3", "~new episode", "x1000 min", "x1000 mean", "held unv", "clone unv", "new unv"]
def show(name, out, file=None):
    line = f"{name:38s} " + " ".join(f"{out[c]:6.2f}" if c in out else "     -" for c in COLS)
    print(line, flush=True)
