"""All responses of a ledger in PostgreSQL: what `ragstone ledger` counts, exports, imports and prunes."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, LiteralString

import msgspec

from ragstone.llm.postgres_database import Database, opened
from ragstone.llm.prompt import Completion

if TYPE_CHECKING:
    from ragstone.llm.ledger import Row
    from ragstone.llm.postgres_database import Connection
    from ragstone.llm.shelf import Hit, Shelf

AT_ONCE = 1_000  # responses that are fetched together


@contextlib.contextmanager
def open_shelf(database: Database, *, make: bool) -> Iterator["Shelf"]:
    """Give all responses of a database; make: whether its tables are made where they are not.

    Raises DataError, also for what goes wrong in the block.
    """
    with opened(database, make=make) as connection:
        yield PostgresShelf(connection)


class PostgresShelf:
    """The responses of a database. Its methods are those of Shelf; what they return is read once."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self.n_bad = 0

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """See Shelf."""
        with self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def rows(self) -> Iterable["Row"]:
        """See Shelf."""
        # Keys are compared as bytes, so that an export is the same as that of a SQLite file.
        return self._good("ORDER BY key")

    def made(self) -> Iterable[tuple[str, float, bytes]]:
        """See Shelf."""
        return ((model, created, response) for _, model, response, created in self._good(""))

    def chosen(self, before: float, models: list[str]) -> Iterable[tuple[str, float, bytes]]:
        """See Shelf."""
        those = "WHERE created < %s::float8 AND model = ANY(%s)"
        return ((one[1], one[3], one[2]) for one in self._good(those, (before, models)))

    def _good(self, which: LiteralString, values: tuple[object, ...] = ()) -> Iterator["Row"]:
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

    def hits(self) -> Iterable["Hit"]:
        """See Shelf."""
        yield from self._connection.execute(
            "SELECT day, model, calls, input, output, cached, uncounted FROM ragstone_hits"
        )

    def models(self) -> list[str]:
        """See Shelf."""
        found = self._connection.execute("SELECT DISTINCT model FROM ragstone_responses")
        return [name for (name,) in found]

    def add(self, rows: Iterable["Row"]) -> tuple[int, int]:
        """See Shelf."""
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
        """See Shelf."""
        return self._connection.execute(
            "DELETE FROM ragstone_responses WHERE created < %s::float8 AND model = ANY(%s)", (before, models)
        ).rowcount

    def shrink(self) -> None:
        """See Shelf."""
        self._connection.execute(
            "VACUUM ragstone_responses"
        )  # left undone, with a warning, for another owner


def size_of_tables(database: Database) -> int:
    """Return the bytes of the tables and their indexes. Raises DataError."""
    with opened(database, make=False) as connection:
        row = connection.execute(
            "SELECT pg_total_relation_size('ragstone_responses') + pg_total_relation_size('ragstone_hits')"
        ).fetchone()
    return int(row[0]) if row else 0
