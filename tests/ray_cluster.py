"""A sweep on a real Ray cluster of two nodes on loopback; run as a program of its own.

`ray_cluster.py FOLDER kill` kills a node in the middle, `ray_cluster.py FOLDER returned` brings
files back.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from countmorl.sweeps.on_ray import RayOptions
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.run import sweep
from sweeps_parts import Silent, small_plan


class Killer(Silent):
    """Kills the second node when both nodes work and a run has recorded an epoch."""

    def __init__(self, cluster: Any, node: object, folder: Path) -> None:
        super().__init__()
        self.cluster, self.node, self.folder = cluster, node, folder

    def tick(self, running: list[str]) -> None:
        begun = [name for name in running if (self.folder / name / "metrics.jsonl").exists()]
        # With two runs under way on two nodes of one core each, one is on the second.
        if self.node is not None and begun and len(running) == 2:
            self.cluster.remove_node(self.node, allow_graceful=False)
            self.node = None


def plan_of(folder: Path, what: str) -> Sweep:
    """Two rows: side by side where a node is killed, one after the other where files travel."""
    if what == "kill":
        return small_plan(folder, "td3-bc", "bc", epochs=200)
    return small_plan(folder, "mopo")


def main(folder: Path, what: str) -> None:
    """Carry out a small plan, print what was said."""
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    watcher = Killer(cluster, node if what == "kill" else None, folder / "sweep")
    options = RayOptions(
        address=cluster.address, storage="returned" if what == "returned" else "auto"
    )
    plan = plan_of(folder, what)
    result = sweep(plan, "sweep", engine="ray", ray=options, watcher=watcher)
    told = {"complete": result.complete, "failed": result.failed, "lines": watcher.lines}
    print(json.dumps(told | {"killed": what == "kill" and watcher.node is None}), flush=True)
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
