import numpy as np
import pytest

from countmorl.studies.audit_tables import Audit, Sample, summed_up

pytest.importorskip("matplotlib")
figures = pytest.importorskip("countmorl.studies.audit_figures")


@pytest.mark.parametrize(("number", "name"), [(1, "r"), (2, r"$\no$")])
def test_audits_are_drawn(tmp_path, number, name):
    rng = np.random.default_rng(0)
    sample = Sample(
        policy=np.repeat(["run", "random"], 10),
        step=np.tile(np.arange(10) + 1, 2),
        error=rng.random(20),
        reward_gap=rng.random(20),
        unseen=None,
        penalties={"counts AVG": rng.random(20), "constant": np.ones(20)},
    )
    audit = summed_up(Audit(run=f"runs/{name}", task="t", horizon=10, starts=1), sample)
    figures.audit_figure([audit] * number, tmp_path / "a.png")
    assert 5_000 < (tmp_path / "a.png").stat().st_size < 200_000
