"""Run folders with numbers made up by hand, for what reads them."""

from pathlib import Path
from statistics import fmean
from typing import Any

from countmorl.reports.facts import RunFacts
from countmorl.runs.calibration import Bin, Calibration, HeldOut, Jolted, SwappedActions, Threshold
from countmorl.runs.folder import Run
from countmorl.runs.manifest import DataOrigin, Manifest
from countmorl.runs.options import RunOptions
from countmorl.runs.summary import Summary

CALIBRATION = Calibration(
    rank_correlation=-0.5,
    p_value=0.01,
    rows=9,
    median_count=7.5,
    rows_per_code=4.5,
    predicts_error=True,
    verdict="Counts predict the model's error.",
    bins=(Bin(count=2.0, error=0.5, error_se=0.1, rows=4),),
    swapped_actions=SwappedActions(median_count=1.0, told_apart=0.75),
    jolted=(Jolted(of="actions", noise=0.3, median_count=2.0, unseen=0.25, told_apart=0.875),),
    held_out=(
        HeldOut(
            by="return",
            episodes=2,
            rows=8,
            median_count=1.5,
            unseen=0.5,
            ordinary_count=6.0,
            ordinary_unseen=0.125,
            told_apart=0.75,
        ),
    ),
    verified=(Threshold(quantile=0.999, times=1.0, imagined=0.0625, held_out=0.03),),
)


def manifest(*, beta: float = 1.0, seed: int = 0, **changes: Any) -> Manifest:
    """What a run of count-morl on data called toy was asked for."""
    settings: dict[str, Any] = {
        "algorithm": "count-morl",
        "config": {"beta": beta, "sac": {"discount": 0.99, "actor_rate": beta / 10}},
        "own": ("beta",),
        "options": RunOptions(seed=seed),
        "data": DataOrigin(name="toy", hash="abcdefghijkl"),
    }
    return Manifest(**(settings | changes))


def judged(epoch: int, score: float | None = None) -> dict[str, Any]:
    """An epoch's line, with a return of 3 per epoch."""
    line = {
        "stage": "policy",
        "epoch": epoch,
        "q": 10.0 * epoch,
        "rollout_unseen": [0.1, 0.2],
        "rollout_count_median": [5.0, 4.0],
        "rollout_penalty": [0.1, 0.3],
        "return": 3.0 * epoch,
        "return_std": 1.0,
    }
    return line if score is None else line | {"score": score, "score_std": 0.5}


def make_run(
    folder: Path,
    *,
    scores: tuple[float, ...] = (1.0, 2.0, 6.0),
    counted: bool = True,
    **about: Any,
) -> Run:
    """A run of a few judged epochs, 100 updates per second faster with every one."""
    run = Run.create(folder, manifest(**about))
    run.append("timing.jsonl", {"stage": "model", "epoch": 1, "seconds": 1, "compile_seconds": 2})
    for epoch, score in enumerate(scores, 1):
        run.append("metrics.jsonl", judged(epoch, score))
        speed = {"seconds": 1.0, "compile_seconds": 2.0, "updates_per_second": 100.0 * epoch}
        run.append("timing.jsonl", {"stage": "policy", "epoch": epoch, **speed})
    if counted:
        CALIBRATION.write(run.path)
    return run


HOSTILE = "<script>alert(1)</script> & $x_1$ | %"
"""A label that HTML, JSON, LaTeX, Markdown and Matplotlib would each act on."""


def finish(run: Run) -> Run:
    """Mark a run as finished: a report asks only whether its last result is there."""
    (run.path / "stages").mkdir()
    run.result_path("policy").write_bytes(b"")
    return run


def make_study(
    folder: Path,
    *,
    methods: tuple[str, ...] = ("bc", "mopo", "count-morl"),
    data: tuple[str, ...] = ("hopper-medium-v2", "toy"),
    seeds: int = 2,
) -> Path:
    """Finished runs of several methods, data and seeds; every method beats those before it."""
    for rank, method in enumerate(methods):
        for place, name in enumerate(data):
            for seed in range(seeds):
                low = 10.0 * rank + 5 * place + seed
                finish(
                    make_run(
                        folder / f"{method}-{name}-{seed}",
                        scores=tuple(low + step for step in range(6)),
                        counted=method == "count-morl",
                        algorithm=method,
                        seed=seed,
                        data=DataOrigin(name=name, hash=f"{place}" * 12),
                    )
                )
    return folder


def make_facts(*values: float, **about: Any) -> RunFacts:
    """A finished run that was judged at every epoch, without a folder; `about` is its manifest."""
    asked = manifest(**about)
    summary = Summary(
        run=f"runs/{asked.algorithm}-{asked.options.seed}",
        name=f"{asked.algorithm}-{asked.options.seed}",
        policy=None,
        algorithm=asked.algorithm,
        data=asked.data.name if asked.data else None,
        finished=True,
        epochs=len(values),
        measure="score" if values else None,
        values=values,
        judged_at=tuple(range(1, len(values) + 1)),
        mean=fmean(values[-5:]) if values else None,
        spread=None,
        last=None,
        q=None,
        penalty=None,
        rows_per_code=None,
        typical_count=None,
        updates_per_second=100.0,
        compile_seconds=2.0,
    )
    return RunFacts(
        manifest=asked,
        summary=summary,
        seconds={"model": 10.0, "policy": 30.0},
        peak_memory=None,
        unseen=None,
        calibration=None,
    )
