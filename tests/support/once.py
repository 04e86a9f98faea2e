"""What takes long to make and is only read, made once for all workers of pytest-xdist.

folder = made_once(tmp_path_factory, "site", build)     # build(folder) fills the folder, which is there
"""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder that `make` has filled: the first worker that asks makes it, the others wait for it.

    A folder is made anew where `make` has failed or skipped. Whoever reads it changes nothing there.
    """
    shared = factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    folder, made = shared / f"once-{name}", shared / f"once-{name}.made"
    with (shared / f"once-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
