"""The Ray that a run works on: connected to by address, or started here and shut down at the end."""

import contextlib
import logging
import math
import os
import platform
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import NamedTuple

from ragstone.kernel.config import EngineSection, Settings
from ragstone.kernel.engine.cluster._troubles import AGAIN
from ragstone.kernel.errors import ConfigError, optional_package
from ragstone.kernel.version import __version__

REACH_S = 3.0  # how long to wait for somebody at an address
NODE_S = 60.0  # how long a node may take to say what it has installed
STORE_BYTES = 256 * 2**20  # of rows under way in a Ray that is started here: few blocks are


class RayAddress(NamedTuple):
    """Where a run works: the driver's node by Ray's id, and how many workers there are to be."""

    node: str
    workers: int


@contextlib.contextmanager
def connected(settings: Settings) -> Iterator[RayAddress]:
    """Give the Ray that `[engine]` names, or one that is started here and ends with the block.

    One that the caller's process is connected to already is used, and stays. Raises MissingExtra without
    Ray; ConfigError where there is no cluster, its nodes have other versions, or it has too little room.
    """
    engine = settings.engine
    # Read when Ray is imported or starts: no statistics to its makers, and no log lines among ours.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"  # a message after the end would join whichever Ray is near
    with optional_package("--engine ray", "ray"):
        import ray
    if engine.address:
        _reach(engine.address)
    started = not ray.is_initialized()
    with _quiet():  # until after the end, at which it says what it kept back
        if started:
            _start(engine)
        try:
            if engine.address:
                _check_nodes()
            yield RayAddress(ray.get_runtime_context().get_node_id(), _workers(engine))
        finally:
            if started:
                ray.shutdown()


def _start(engine: EngineSection) -> None:
    """Connect to the cluster at the address, or start one. Raises ConfigError."""
    import ray

    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if engine.address is None:
        with _quiet_start(), _kept_end():
            ray.init(
                address="local",
                num_cpus=cpus_here(engine, os.cpu_count() or 1),
                object_store_memory=STORE_BYTES,
                include_dashboard=False,
                **quiet,
            )
        return
    try:
        with _quiet_start(), _kept_end():
            ray.init(address=engine.address, **quiet)
    except (ConnectionError, TimeoutError, ValueError, RuntimeError) as mistake:
        raise ConfigError(refusal(engine.address, mistake)) from None


def cpus_here(engine: EngineSection, room: int) -> int:
    """Return how many CPUs a Ray on this machine gives away: what the workers need, at most what it has."""
    return min(math.ceil((engine.workers or room) * engine.worker_cpus), room)


@contextlib.contextmanager
def _kept_end() -> Iterator[None]:
    """After the block SIGTERM does what it did before: Ray would print its stack, and end with an abort."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _quiet_start() -> Iterator[None]:
    """Within the block nothing reaches standard error: what is not Python says there how it is set up."""
    sys.stderr.flush()
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def _reach(address: str) -> None:
    """Ray tries an address for a minute; somebody who mistyped it is told at once. Raises ConfigError."""
    if address.startswith("ray://"):
        raise ConfigError(
            f"{address!r} is an address of Ray's client: the coordinator, and with it the ledger's file, "
            "would be on another machine. Run the command on a node of the cluster with address = "
            '"auto", or make this machine a node: ray start --address HOST:6379 --num-cpus 0'
        )
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=REACH_S).close()
    except (OSError, ValueError) as mistake:
        raise ConfigError(_none_at(address, str(mistake))) from None


def refusal(address: str, mistake: Exception) -> str:
    """Return what to do about a cluster that did not let us in."""
    if "Unauthenticated" in f"{mistake} {mistake.__cause__}":
        return (
            f"the Ray cluster at {address!r} asks for its token. Set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN "
            "to the token that it was started with, for this command and on every node."
        )
    return _none_at(address, str(mistake))


def _none_at(address: str, why: str) -> str:
    first = why.strip().splitlines()[0] if why.strip() else "no answer"
    return (
        f"no Ray cluster at {address!r} ({first}). Start one with `ray start --head`, correct `address` in "
        "the table [engine] of ragstone.toml, or leave it out to have one started on this machine."
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Ray tells of its plans and of workers that died in our terminal; our bars do that."""
    import ray._private.worker

    logger = logging.getLogger("ray")
    # There is no other switch: without this, a worker that is gone is told of on standard output.
    before = logger.level, ray._private.worker._worker_logs_enabled
    ray._private.worker._worker_logs_enabled = False
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before[0])
        ray._private.worker._worker_logs_enabled = before[1]


def _check_nodes() -> None:
    """Ask every node for its versions. Raises ConfigError naming a node whose versions are others."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def versions() -> tuple[str, str]:  # nested, so that a node without Ragstone can run it
        import platform as its_platform

        try:
            from ragstone.kernel.version import __version__ as its_version
        except ImportError:
            return its_platform.python_version(), "none"
        return its_platform.python_version(), its_version

    replies = {
        str(node["NodeManagerAddress"]): ray.remote(num_cpus=0)(versions)
        .options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        .remote()
        for node in ray.nodes()
        if node["Alive"]
    }
    for address, reply in replies.items():
        try:
            version = ray.get(reply, timeout=NODE_S)
        except ray.exceptions.RayError as mistake:
            first = str(mistake).strip().splitlines()[0]
            raise ConfigError(
                f"node {address} of the cluster does not answer ({first}). Check `ray status`, or remove the "
                "node."
            ) from None
        check_versions(address, *version)


def check_versions(address: str, python: str, ragstone: str) -> None:
    """Raise ConfigError if a node has another Ragstone, or another minor version of Python, than we."""
    mine = platform.python_version()
    if ragstone != __version__:
        has = "no Ragstone" if ragstone == "none" else f"Ragstone {ragstone}"
        raise ConfigError(
            f"node {address} has {has}, this machine {__version__}. Install there: "
            f"pip install 'ragstone[ray]=={__version__}'"
        )
    if python.rpartition(".")[0] != mine.rpartition(".")[0]:
        raise ConfigError(
            f"node {address} runs Python {python}, this machine {mine}. Use the same minor version "
            "on all nodes."
        )


def no_room(engine: EngineSection) -> str:
    """Return what to do when no worker has run for some time."""
    import ray

    free = ray.available_resources()
    return (
        f"no worker is left, and none could be started: each needs {engine.worker_cpus:g} CPUs and "
        f"{engine.worker_gpus:g} GPUs on one node, and the cluster has {free.get('CPU', 0.0):g} and "
        f"{free.get('GPU', 0.0):g} free. Look at `ray status`. {AGAIN}"
    )


def _workers(engine: EngineSection) -> int:
    """Return how many workers there are to be. Raises ConfigError where the cluster has no room for them."""
    import ray

    room = ray.cluster_resources()
    cpus, gpus = room.get("CPU", 0.0), room.get("GPU", 0.0)
    fit = int(cpus // engine.worker_cpus)
    if engine.worker_gpus:
        fit = min(fit, int(gpus // engine.worker_gpus))
    wanted = engine.workers or max(1, fit)
    if wanted > fit:
        raise ConfigError(
            f"{wanted} workers need {wanted * engine.worker_cpus:g} CPUs and {wanted * engine.worker_gpus:g} "
            f"GPUs, and the cluster has {cpus:g} and {gpus:g}. Lower workers, worker_cpus or worker_gpus in "
            "the table [engine] of ragstone.toml."
        )
    return wanted
