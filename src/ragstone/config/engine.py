"""`[engine]` and `[ledger]`: where stages run, and where what was paid for is kept."""

from typing import Annotated, Literal

import msgspec

from ragstone.config.section import Positive, Section

EngineKind = Literal["local", "ray"]


class EngineSection(Section, frozen=True, kw_only=True):
    """`[engine]`: where stages run.

    kind: in this process, or on the workers of a Ray cluster. address: of that cluster, e.g. `auto` on one of
    its nodes or `head:6379`; one is started on this machine if absent. workers: how many rows are shared
    among; as many as the cluster has room for if absent. worker_cpus, worker_gpus: what each of them is
    given. block_rows: rows that are handed to a worker at a time, and that are done anew when it dies.
    """

    kind: EngineKind = "local"
    address: str | None = None
    workers: Positive | None = None
    worker_cpus: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    worker_gpus: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    block_rows: Positive = 512


class LedgerSection(Section, frozen=True, kw_only=True):
    """`[ledger]`: where responses are kept.

    url: of a PostgreSQL database, e.g. `postgresql://user@host/name`, for who works on several machines; the
    password is taken from PGPASSWORD or ~/.pgpass. The file `.ragstone/ledger.sqlite` if absent.
    keep_failures: replies that could not be used are taken as they are, and not asked for anew.
    """

    url: str | None = None
    keep_failures: bool = False
