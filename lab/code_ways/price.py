import sys
from ways import *
from countmorl.pessimism import elites_spread
run, task = sys.argv[1:3]
t = Trial(run, task)
way = Way(bits=32, nested=True, target="both", weights="within", err="even", share=4.0)
auto, w = t.fit(way)
out, counts = measure(t, way, auto, w, 16)
spread = eqx.filter_jit(lambda x: trees.in_blocks(lambda r, _: elites_spread(t.e, t.e.trunks(r)), x))
s = {n: np.asarray(spread(t.sets[n])) for n in ("train", "held", "clone", "audit")}
cv = {n: counts(n, True) for n in s}
e, p = t.error, t.policy
def rk(name, v):
    print(f"{run} {name:34s}", {k: round(x, 2) for k, x in summary(t, v).items()}, flush=True)
for q in (0.9, 0.99, 0.999, 1.0):
    top = np.quantile(s["train"], q)
    price = {n: np.where(2 * (cv[n] == 0).sum(axis=0) > len(cv[n]), 1.0, np.minimum(1, s[n] / top)) for n in s}
    rk(f"spread capped at q{q}", price["audit"])
    print("   mean price: logged %.2f held %.2f clone %.2f" % tuple(price[n].mean() for n in ("train", "held", "clone")), "median logged %.2f" % np.median(price["train"]),
          {str(n): (round(float(price["audit"][p == n].mean()), 2), "dearest %.2f" % float((price["audit"][p == n] >= 1).mean()), "err %.2f" % np.median(e[p == n])) for n in dict.fromkeys(p)})
    if q == 0.99:
        raw = s["audit"] / top
        rk("spread/q99 not capped", raw); rk("not capped, unseen at least 1", np.where(2 * (cv["audit"] == 0).sum(axis=0) > len(cv["audit"]), np.maximum(1, raw), raw))
        print("   beyond q99: rank of error with the raw spread there", round(rank(raw[raw > 1], e[raw > 1]), 2), (raw > 1).mean(), "largest", np.quantile(raw, [.9, .99, 1]).round(1))
        # the true error at which beta is paid, and typical errors of held pairs
        near = (raw > .8) & (raw < 1.25); print("   median true error near q99", np.round(np.median(e[near]) if near.any() else np.nan, 3), "of clone", np.round(np.median(e[p == "clone"]), 3))
v = pen(cv["audit"]); rk("counts verified", v)
print("   mean price by counts: logged %.2f held %.2f clone %.2f" % tuple(pen(cv[n]).mean() for n in ("train", "held", "clone")), {str(n): round(float(v[p == n].mean()), 2) for n in dict.fromkeys(p)})
top = np.quantile(s["train"], .99)
both = np.maximum(v, np.where(2 * (cv["audit"] == 0).sum(axis=0) > len(cv["audit"]), 1.0, np.minimum(1, s["audit"] / top))); rk("max(counts, spread capped)", both)
