"""Whether a run can go on bit for bit: the same settings, packages, threads and instructions.

Sums are added up in an order that depends on how many threads share them, and on the widest
instructions there are. Another order gives other last bits, and a training soon other numbers.
"""

from __future__ import annotations

import os
from dataclasses import replace

import jax

from countmorl import threads
from countmorl.errors import RunError
from countmorl.machine import instructions
from countmorl.runs.folder import CONFIG, Run
from countmorl.runs.manifest import Manifest, installed_versions

FLAGS = ("XLA_FLAGS", "JAX_ENABLE_X64", "JAX_DEFAULT_MATMUL_PRECISION", "JAX_DEFAULT_PRNG_IMPL")
UNSAID = ("python", "countmorl")
"""Versions that are not compared: the one moves no numbers, of the other no two may differ."""


def environment() -> dict[str, str]:
    """What the bits of a training depend on, beside its settings and the packages' versions."""
    flags = {name: " ".join(sorted(os.environ.get(name, "").split())) for name in FLAGS}
    return {
        **dict(zip(threads.RECORDED, (str(threads.of_xla()), threads.of_numpy()), strict=True)),
        "instructions": " ".join(instructions()),
        "device": jax.devices()[0].device_kind,
        **flags,
    }


def go_on_exactly(run: Run, manifest: Manifest, *, inexact: bool) -> Manifest:
    """Refuse to go on where other bits would come of it, unless that is what is wanted.

    Then the manifest says so, and remembers the machine of today.
    """
    found = differences(run, manifest)
    if not found:
        return manifest
    if not inexact:
        raise RunError(
            f"{run.path} cannot go on bit for bit: {'; '.join(found)}. Go on as it began"
            f"{_as_it_began(run, manifest)}, or take other numbers: "
            f"`countmorl resume {run.path} --inexact`."
        )
    changed = replace(
        manifest,
        environment=environment(),
        versions=installed_versions(),
        inexact=(*manifest.inexact, *found),
    )
    changed.write(run.path / CONFIG)
    return changed


def _as_it_began(run: Run, manifest: Manifest) -> str:
    """The command that goes on exactly, where threads are among what differs."""
    then, now = manifest.environment or {}, environment()
    if all(then.get(name, now[name]) == now[name] for name in threads.RECORDED):
        return ""
    return f" (its threads: `{threads.how_to_take(then)} countmorl resume {run.path}`)"


def differences(run: Run, manifest: Manifest) -> list[str]:
    """What has changed since a run began, in words."""
    found = []
    if Manifest.is_as_written(run.path / CONFIG) is False:
        found.append(f"its {CONFIG} was changed by hand")
    now = installed_versions()
    for name, then in manifest.versions.items():
        if name not in UNSAID and now.get(name) != then:
            found.append(f"{name} was {then} and is {now.get(name, 'missing')}")
    today = environment()
    for name, then in (manifest.environment or {}).items():
        if today.get(name) != then:
            found.append(_said(name, then, today.get(name, "")))
    return found


def _said(name: str, then: str, now: str) -> str:
    if name == "instructions":
        before, after = set(then.split()), set(now.split())
        gone, new = sorted(before - after), sorted(after - before)
        return f"the processor has no {', '.join(gone)}" if gone else f"it has {', '.join(new)} too"
    return f"{name} was {then or 'nothing'} and is {now or 'nothing'}"
