"""A PostgreSQL database that keeps a ledger: its address, its tables, and what its errors mean.

Its tables begin with `ragstone_` and stand in the first schema of the user's search path.
"""

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from ragstone.errors import ConfigError, DataError, MissingExtra

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

FORMAT = 1  # ragstone_format.version; a newer one is refused
LOCK = 0x7261677374  # of whoever makes the tables: "ragst"
CONNECT_S = 10
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
    r"no pg_hba.conf entry": "The server lets nobody in from here under this name: who keeps it can add a "
    "line to its pg_hba.conf.",
}
_MEANING = {
    "28000": _CONNECTING["no pg_hba.conf entry"],
    "28P01": _CONNECTING[r"password authentication failed|no password supplied|authentication failed"],
    "3D000": _CONNECTING[r'database ".*" does not exist'],
    "42501": "The user must be allowed to create tables at the first use, and later to SELECT, INSERT, "
    "UPDATE and DELETE in those that begin with ragstone_. A database that this user owns gives all of it.",
    "3F000": "The user's search path names no schema that exists: create one.",
    "53100": "The server's disk is full. Make room and run the same command again; what is stored stays.",
    "25006": "This server can only be read. Name the one that can be written to in [ledger] url.",
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
        found = _URL.fullmatch(self.url)
        parts = {} if found is None else found.groupdict("")
        user = f"{parts['user']}@" if parts["user"] else ""
        more = "&".join(f"{key}={value}" for key, value in parse_qsl(parts["more"]) if key in _SHOWN)
        return f"postgresql://{user}{parts['hosts']}{parts['name']}{'?' if more else ''}{more}"

    __repr__ = __str__


def import_psycopg() -> None:
    """Raise MissingExtra where psycopg is not installed."""
    try:
        import psycopg  # noqa: F401 - it takes 0.1 s, so nobody imports it who has no such ledger
    except ImportError:
        raise MissingExtra("a ledger in PostgreSQL", "postgres") from None


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
        advice = next((then for words, then in _CONNECTING.items() if re.search(words, text)), _ELSE)
    return f"{database}: the ledger cannot be used ({text}). {advice}"


def _check_tables(connection: "Connection", database: Database, make: bool) -> None:
    version = _version(connection)
    if version is None and not make:
        raise DataError(
            f"{database}: there is no ledger in this database yet; the first command that asks a model makes "
            "it. If yours is elsewhere, name its settings: --config FOLDER/ragstone.toml."
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
    found = connection.execute(
        "SELECT FROM pg_catalog.pg_tables"
        " WHERE tablename = 'ragstone_format' AND schemaname = ANY (current_schemas(false))"
    ).fetchone()
    if found is None:
        return None
    row = connection.execute("SELECT max(version) FROM ragstone_format").fetchone()
    return None if row is None or row[0] is None else int(row[0])
