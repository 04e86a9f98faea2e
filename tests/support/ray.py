"""One Ray for all tests that need a cluster, started as `--engine ray` starts it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator

import pytest

from ragstone.kernel.config import EngineSection, Settings


@contextlib.contextmanager
def started_ray(cpus: int = 2) -> Iterator[None]:
    """Give a Ray of this process with so many CPUs; skips where it is not installed."""
    ray = pytest.importorskip("ray")
    from ragstone.kernel.engine.cluster.starting import connected

    settings = Settings(engine=EngineSection(kind="ray", workers=cpus))
    with connected(settings):
        yield
    assert not ray.is_initialized()
    assert ray._private.worker._worker_logs_enabled  # a switch of Ray's that is ours for the run alone


@contextlib.contextmanager
def nodes_of_a_cluster(n: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Give the address of a cluster of n nodes with one CPU each, and what takes one away for good."""
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 100 * 2**20}
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **small}
    )
    nodes = [cluster.add_node(num_cpus=1, **small) for _ in range(n)]
    try:
        yield cluster.address, lambda: cluster.remove_node(nodes[0], allow_graceful=False)
    finally:
        cluster.shutdown()


def worker_pids() -> list[int]:
    """Return the processes of the workers that run at this moment."""
    found = subprocess.run(["pgrep", "-f", r"^ray::StageWorker"], capture_output=True, text=True, check=False)
    mine = found.stdout.split()
    return [int(pid) for pid in mine if _descends_from(int(pid), os.getpid())]


def kill_a_worker() -> int | None:
    """Kill the first worker as `kill -9` does; None where there is none."""
    pids = worker_pids()
    if not pids:
        return None
    with contextlib.suppress(ProcessLookupError):
        os.kill(pids[0], signal.SIGKILL)
    return pids[0]


def _descends_from(pid: int, ancestor: int) -> bool:
    """Return whether a process was started by another, or by one that was: others may run a Ray too."""
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as status:  # noqa: PTH123
                pid = int(status.read().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False
