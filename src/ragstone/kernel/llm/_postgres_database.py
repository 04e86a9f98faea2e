"""A PostgreSQL database that keeps a ledger: its address, tables, errors, and all of its responses.

Its tables begin with `ragstone_` and stand in the first schema of the user's search path.
"""

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, LiteralString, TypeVar
from urllib.parse import parse_qsl

import msgspec

from ragstone.kernel.errors import ConfigError, DataError, optional_package
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import Hit, ResponseStore, Row

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

FORMAT = 1  # ragstone_format.version; a newer one is refused
LOCK = 0x7261677374  # of whoever makes the tables: "ragst"
CONNECT_S = 10
AWAY_S = 30.0  # how long a server may be away: it is restarted, or another takes over
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
AT_ONCE = 1_000  # responses that are fetched together
# A cable that was pulled is noticed after 20 to 30 s, not after the system's two hours.
IDLE_S, INTERVAL_S, MISSED, UNANSWERED_MS = 10, 5, 3, 20_000

TABLES = (
    "CREATE TABLE ragstone_responses (key bytea PRIMARY KEY, model text NOT NULL, response bytea NOT NULL,"
    " created double precision NOT NULL)",
    # day: days since 1970-01-01, UTC. uncounted: hits on responses without token counts.
    "CREATE TABLE ragstone_hits (day integer, model text, calls bigint NOT NULL, input bigint NOT NULL,"
    " output bigint NOT NULL, cached bigint NOT NULL, uncounted bigint NOT NULL, PRIMARY KEY (day, model))",
    # A process is alive until then; it says so every few seconds while it claims calls.
    "CREATE TABLE ragstone_claimants (id uuid PRIMARY KEY, until timestamptz NOT NULL)",
    "CREATE TABLE ragstone_claims (key bytea PRIMARY KEY, claimant uuid NOT NULL)",
    "CREATE TABLE ragstone_format (version integer NOT NULL)",
)

UNREADABLE = (
    "[ledger] url: it cannot be read. Write postgresql://user@host:5432/database, and signs such as @ : / ? "
    "# % and spaces in names and passwords as %40 %3A %2F %3F %23 %25 %20. Without it, the ledger is the "
    "file .ragstone/ledger.sqlite."
)

_HOST = r"(?:[\w.%-]*|\[[\da-fA-F:.%]+\])(?::\d*)?"
_URL = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:@/?#]*)(?::[^@/?#]*)?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)(?P<name>/[^@?#]*)?(?:\?(?P<more>[^@#]*))?"
)
_SHOWN = ("host", "port", "user", "dbname", "sslmode")

# Words of PostgreSQL's refusal -> what to do. No code comes with what ends before a connection is there.
_CONNECTING = {
    r"password authentication failed|no password supplied|authentication failed": "Set PGPASSWORD, or add "
    "a line for this server, database and user to ~/.pgpass.",
    r'role ".*" does not exist': "Name a user that the server knows in [ledger] url.",
    r'database ".*" does not exist': "Create it once, as a user who may: createdb NAME.",
    r"no pg_hba.conf entry": "The server does not accept this user from this machine: "
    "its administrator can add a line to pg_hba.conf.",
}
_MEANING = {
    "28000": _CONNECTING["no pg_hba.conf entry"],
    "28P01": _CONNECTING[r"password authentication failed|no password supplied|authentication failed"],
    "3D000": _CONNECTING[r'database ".*" does not exist'],
    "42501": "The user must be allowed to create tables at the first use, and later to SELECT, INSERT, "
    "UPDATE and DELETE in those that begin with ragstone_. A database that this user owns allows all of "
    "this.",
    "3F000": "The user's search path names no schema that exists: create one.",
    "53100": "The server's disk is full. Free some space and run the same command again; stored responses "
    "stay.",
    "25006": "This server is read-only. Name the writable one in [ledger] url.",
}
_ELSE = (
    "Check that the server runs and that [ledger] url names it, then run the same command again: what is "
    "stored stays."
)
# Connection failures; too many connections; shutting down or starting; conflicts that another try resolves.
_PASSING = re.compile(r"08...|53300|57P0[123]|40001|40P01|55P03")


class Database(msgspec.Struct, frozen=True):
    """The address of a database. Shown as text it is without password.

    One that is no URL of PostgreSQL's raises ConfigError; so does one that can be read in two ways, for an
    @ or / that stands unquoted in a password puts the rest of it where hosts and names are shown.
    """

    url: str

    def __post_init__(self) -> None:
        if _URL.fullmatch(self.url) is None:
            raise ConfigError(UNREADABLE)

    def __str__(self) -> str:
        match = _URL.fullmatch(self.url)
        parts = {} if match is None else match.groupdict("")
        user = f"{parts['user']}@" if parts["user"] else ""
        more = "&".join(f"{key}={value}" for key, value in parse_qsl(parts["more"]) if key in _SHOWN)
        return f"postgresql://{user}{parts['hosts']}{parts['name']}{'?' if more else ''}{more}"

    __repr__ = __str__


def import_psycopg() -> None:
    """Raise MissingExtra where psycopg is not installed."""
    with optional_package("a ledger in PostgreSQL", "postgres"):
        import psycopg  # noqa: F401 - it takes 0.1 s, so nobody imports it who has no such ledger


def connect(database: Database, *, make: bool = True) -> "Connection":
    """Return a connection that commits each statement, to a database whose tables are there.

    make: whether they are made where they are not. Raises psycopg.Error, which `explain` words for the user,
    and DataError for tables of a newer format, or none.
    """
    import_psycopg()
    import psycopg

    try:
        # Nothing is prepared: statements are few and large, and poolers mix up whose they are.
        connection = psycopg.connect(
            database.url,
            autocommit=True,
            prepare_threshold=None,
            connect_timeout=CONNECT_S,
            application_name="ragstone",
            keepalives_idle=IDLE_S,
            keepalives_interval=INTERVAL_S,
            keepalives_count=MISSED,
            tcp_user_timeout=UNANSWERED_MS,
        )
    except psycopg.ProgrammingError:  # its words quote the URL, password and all
        raise ConfigError(UNREADABLE) from None
    try:
        _check_tables(connection, database, make)
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def opened(database: Database, *, make: bool = True) -> Iterator["Connection"]:
    """Give a connection. Raises DataError, also for what goes wrong in the block."""
    import_psycopg()
    import psycopg

    try:
        with contextlib.closing(connect(database, make=make)) as connection:
            yield connection
    except psycopg.Error as mistake:
        raise DataError(explain(database, mistake)) from None


def passing(mistake: "psycopg.Error") -> bool:
    """Return whether this may go well a moment later, on a new connection."""
    import psycopg

    if not isinstance(mistake, (psycopg.OperationalError, psycopg.InterfaceError)):
        return False
    return mistake.sqlstate is None or _PASSING.fullmatch(mistake.sqlstate) is not None


def explain(database: Database, mistake: "psycopg.Error") -> str:
    """Return what is wrong with the database, and what to do."""
    text = " ".join(str(mistake).split()) or type(mistake).__name__
    advice = _MEANING.get(mistake.sqlstate or "")
    if advice is None:
        advice = next((then for pattern, then in _CONNECTING.items() if re.search(pattern, text)), _ELSE)
    return f"{database}: the ledger cannot be used ({text}). {advice}"


Job = TypeVar("Job")
Out = TypeVar("Out")


class Reconnecting(Generic[Job, Out]):
    """Jobs on a connection that is made anew when it is lost: what a WriterThread calls.

    work: does jobs on a connection and returns what came of each. It is called again with the same jobs when
    the connection was lost. rescue: is handed jobs that could not be done, and returns what became of them,
    a sentence for the user.
    """

    def __init__(
        self,
        database: Database,
        work: "Callable[[Connection, list[Job]], Sequence[Out]]",
        rescue: Callable[[list[Job]], str] = lambda _jobs: "",
    ) -> None:
        """Connect. Raises DataError when that fails, saying what to do."""
        import psycopg

        self._database, self._work, self._rescue = database, work, rescue
        self._connection: Connection | None
        try:
            self._connection = connect(database)
        except psycopg.Error as mistake:
            raise DataError(explain(database, mistake)) from None
        self._away_since: float | None = None

    def __call__(self, jobs: list[Job]) -> Sequence[Out | DataError]:
        """Return what came of each job: the same DataError for all where the server stays away."""
        import psycopg

        pause_s = FIRST_PAUSE_S
        while True:
            try:
                if self._connection is None:
                    self._connection = connect(self._database)
                outs = self._work(self._connection, jobs)
            except psycopg.Error as mistake:
                self.close()
                if not (passing(mistake) and jobs and self._waits()):
                    return self._given_up(jobs, explain(self._database, mistake))
            except (DataError, ConfigError) as mistake:  # tables of a newer format since the last connection
                return self._given_up(jobs, str(mistake))
            else:
                self._away_since = None
                return outs
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def close(self) -> None:
        """Disconnect, until the next job comes."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _waits(self) -> bool:
        """Return whether the server has not been away for too long; what comes later is tried once."""
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since < AWAY_S

    def _given_up(self, jobs: list[Job], reason: str) -> list[DataError]:
        rescued = self._rescue(jobs) if jobs else ""
        return [DataError(f"{reason} {rescued}".rstrip())] * len(jobs)


@contextlib.contextmanager
def open_store(database: Database, *, make: bool) -> Iterator[ResponseStore]:
    """Give all responses of a database; make: whether its tables are made where they are not.

    Raises DataError, also for what goes wrong in the block.
    """
    with opened(database, make=make) as connection:
        yield PostgresStore(connection)


class PostgresStore:
    """The responses of a database. Its methods are those of ResponseStore; what they return is read once."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self.n_bad = 0

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """See ResponseStore."""
        with self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def rows(self) -> Iterable[Row]:
        """See ResponseStore."""
        # Keys are compared as bytes, so that an export is the same as that of a SQLite file.
        return self._good("ORDER BY key")

    def chosen(self, before: float, models: list[str]) -> Iterable[Row]:
        """See ResponseStore."""
        return self._good("WHERE created < %s::float8 AND model = ANY(%s)", (before, models))

    def _good(self, which: LiteralString, values: tuple[object, ...] = ()) -> Iterator[Row]:
        check = msgspec.json.Decoder(Completion).decode
        with self._connection.transaction(), self._connection.cursor("rows", binary=True) as cursor:
            cursor.itersize = AT_ONCE
            query: LiteralString = "SELECT key, model, response, created FROM ragstone_responses "
            for row in cursor.execute(query + which, values):
                try:
                    check(row[2])
                except (msgspec.DecodeError, UnicodeDecodeError):
                    self.n_bad += 1
                else:
                    yield row

    def hits(self) -> Iterable[Hit]:
        """See ResponseStore."""
        yield from self._connection.execute(
            "SELECT day, model, calls, input, output, cached, uncounted FROM ragstone_hits"
        )

    def models(self) -> list[str]:
        """See ResponseStore."""
        rows = self._connection.execute("SELECT DISTINCT model FROM ragstone_responses")
        return [name for (name,) in rows]

    def add(self, rows: Iterable[Row]) -> tuple[int, int]:
        """See ResponseStore."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(
                "CREATE TEMP TABLE incoming (key bytea, model text, response bytea, created float8,"
                " n bigint GENERATED ALWAYS AS IDENTITY) ON COMMIT DROP"
            )
            with cursor.copy("COPY incoming (key, model, response, created) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            total = cursor.rowcount
            cursor.execute(
                "INSERT INTO ragstone_responses (key, model, response, created)"
                " SELECT key, model, response, created FROM incoming ORDER BY key, n ON CONFLICT DO NOTHING"
            )
            return cursor.rowcount, total

    def delete(self, before: float, models: list[str]) -> int:
        """See ResponseStore."""
        return self._connection.execute(
            "DELETE FROM ragstone_responses WHERE created < %s::float8 AND model = ANY(%s)", (before, models)
        ).rowcount

    def shrink(self) -> None:
        """See ResponseStore."""
        # Left undone, with a warning, for another owner.
        self._connection.execute("VACUUM ragstone_responses")


def size_of_tables(database: Database) -> int:
    """Return the bytes of the tables and their indexes. Raises DataError."""
    with opened(database, make=False) as connection:
        row = connection.execute(
            "SELECT pg_total_relation_size('ragstone_responses') + pg_total_relation_size('ragstone_hits')"
        ).fetchone()
    return int(row[0]) if row else 0


def _check_tables(connection: "Connection", database: Database, make: bool) -> None:
    version = _version(connection)
    if version is None and not make:
        raise DataError(
            f"{database}: there is no ledger in this database yet; the first command that asks a model "
            "creates it. If yours is elsewhere, name its settings: --config FOLDER/ragstone.toml."
        )
    if version is None:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            version = _version(connection)  # others may have made them while this one waited
            if version is None:
                for statement in TABLES:
                    connection.execute(statement)
                connection.execute("INSERT INTO ragstone_format VALUES (%s)", (FORMAT,))
                version = FORMAT
    if version > FORMAT:
        raise DataError(
            f"{database}: written by a newer Ragstone (format {version}). Upgrade with: "
            "pip install -U ragstone"
        )


def _version(connection: "Connection") -> int | None:
    """Return the format of the tables, None where there are none."""
    # Not to_regclass: it may remember from before the lock that there was no such table.
    tables = connection.execute(
        "SELECT FROM pg_catalog.pg_tables"
        " WHERE tablename = 'ragstone_format' AND schemaname = ANY (current_schemas(false))"
    ).fetchone()
    if tables is None:
        return None
    row = connection.execute("SELECT max(version) FROM ragstone_format").fetchone()
    return None if row is None or row[0] is None else int(row[0])
