"""A PostgreSQL of the tests' own, where Debian's packages have one; without them such tests skip.

It listens on a Unix socket in a temporary folder and on a free port of this machine, asks nobody for a
password on the socket and everybody on the port. PostgreSQL refuses to run as root: then it runs as the user
`postgres`.
"""

import contextlib
import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
USER, PASSWORD = "postgres", "open sesame!"


class PostgresServer:
    """A server; `stop` and `start` keep what it holds."""

    def __init__(self, folder: Path, durable: bool) -> None:
        self.folder = folder
        self._fsync = "on" if durable else "off"
        self._data = folder / "data"
        self._programs = PROGRAMS[-1]
        self._count = itertools.count()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        key = folder / "password"
        key.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, key):
                shutil.chown(path, USER)
        self._run(
            "initdb", "-D", self._data, "-U", USER, "-E", "UTF8", "--locale=C", "-A", "scram-sha-256",
            "--auth-local=trust", f"--pwfile={key}", "--no-sync",
        )  # fmt: skip
        self.start()

    def start(self) -> None:
        """Answer from now on."""
        options = f"-k {self.folder} -h 127.0.0.1 -p {self.port} -c fsync={self._fsync} -c max_connections=60"
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self._data, "-o", options, "-l", log, "-w", "start")

    def stop(self, how: str = "fast") -> None:
        """Break every connection off, and answer no more. how: `immediate` writes nothing down before."""
        self._run("pg_ctl", "-D", self._data, "-m", how, "-w", "stop")

    def new_schema(self) -> str:
        """Return the name of an empty schema: as good as a database of one's own, and made much sooner."""
        name = f"s{next(self._count)}"
        self.sql(f"CREATE SCHEMA {name}")
        return name

    def url(self, schema: str = "public", *, user: str = USER, database: str = "postgres") -> str:
        """Return the URL of a schema by the server's socket."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}&{options(schema)}"

    def sql(self, statement: str, schema: str = "public") -> list[str]:
        """Run a statement; return its lines."""
        ran = subprocess.run(
            [self._programs / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, self.url(schema)],
            check=True, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return ran.stdout.splitlines()

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [self._programs / program, *arguments]
        if os.geteuid() == 0:
            user = pwd.getpwnam(USER)
            command = [
                "setpriv",
                f"--reuid={user.pw_uid}",
                f"--regid={user.pw_gid}",
                "--clear-groups",
                *command,
            ]
        subprocess.run(
            command, check=True, cwd="/", timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )


def options(schema: str) -> str:
    """Return the part of a URL that names the schema."""
    return f"options=-csearch_path%3D{schema}"


@contextlib.contextmanager
def serving_postgres(durable: bool = False) -> Iterator[PostgresServer]:
    """Give a server; skips where there is none, or nobody to run it as.

    durable: whether it waits for the disk at each commit, as servers do outside of tests.
    """
    if not PROGRAMS:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    nobody = shutil.which("setpriv") is None or USER not in {entry.pw_name for entry in pwd.getpwall()}
    if os.geteuid() == 0 and nobody:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres to run it as")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        server = PostgresServer(folder, durable)
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
