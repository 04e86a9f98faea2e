"""Responses out of a ledger and into it: export to JSONL, import, prune."""

import contextlib
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ragstone.features.ledger._account import price_of, tally_responses, tally_usd
from ragstone.features.ledger._salvage import salvaged
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import DataError, explaining, nearest
from ragstone.kernel.llm.budget import sum_usd
from ragstone.kernel.llm.ledger import is_damaged
from ragstone.kernel.llm.ledgers import LedgerLocation, open_store, size_on_disk
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import Row, StoredResponse, export_lines
from ragstone.kernel.tables import check_output

SHOWN_LINES = 10


class ImportedFile(msgspec.Struct, frozen=True):
    """What became of a file: responses that are new, and those that the ledger had already."""

    file: str
    new: int
    known: int


class Exported(msgspec.Struct, frozen=True):
    """What an export did. damaged: responses that cannot be read, as far as that can be counted."""

    responses: int
    damaged: int


class ExportOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone ledger export --json` prints: the file, and what Exported says."""

    file: str
    responses: int
    damaged: int


class ImportOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone ledger import --json` prints: every file that was added, and the sums."""

    files: list[ImportedFile]
    new: int
    known: int


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Responses that may be pruned: those of `models` stored before `before` (seconds since 1970).

    responses: model -> how many. damaged: further ones that cannot be read. cost_usd: what asking them again
    costs, without the damaged; None where it is unknown.
    """

    before: float
    models: list[str]
    responses: dict[str, int]
    damaged: int
    cost_usd: float | None


class Pruned(msgspec.Struct, frozen=True):
    """What a prune did. n_bytes_freed: 0 while other processes keep the file from shrinking."""

    responses: int
    n_bytes_freed: int


def export_responses(location: LedgerLocation, file: Path, *, force: bool = False) -> Exported:
    """Write every response of a ledger to a .jsonl file, ordered by key, and return how many there are.

    They are those of one moment, whoever writes meanwhile; the file appears when it is whole. Of a file that
    is damaged, all that can still be read is written. Raises DataError when there is no ledger, or the file
    exists and `force` is not given.
    """
    if file.suffix != ".jsonl":
        raise DataError(f"{file}: an export is JSONL. Give it a name that ends in .jsonl.")
    salvaging = isinstance(location, Path) and is_damaged(location)
    opened = salvaged(location) if isinstance(location, Path) and salvaging else open_store(location)
    with opened as source, _whole_file(check_output(file, force)) as partial:
        n = 0
        with partial.open("wb", buffering=1 << 16) as out:
            for line in export_lines(source.rows()):
                out.write(line)
                n += 1
        return Exported(n, source.n_bad)


def import_responses(location: LedgerLocation, file: Path) -> ImportedFile:
    """Merge an export into a ledger, which is made if need be; what the ledger has already stays.

    All of the file or nothing: killed at any moment, and with a bad line anywhere. Raises DataError that
    names up to ten bad lines.
    """
    with explaining(f"{file}: cannot be read"):
        lines = file.open("rb")
    with lines, open_store(location, make=True) as store:
        new, n = store.add(_rows(lines, file))
    return ImportedFile(str(file), new, n - new)


def choose_responses(
    location: LedgerLocation,
    settings: Settings,
    *,
    older_than_s: float | None = None,
    model: str | None = None,
) -> Chosen:
    """Return the responses that prune_responses would delete, and what they would cost again.

    older_than_s: only those stored longer ago, in seconds. model: only that model's, wherever it was
    asked (`openai/NAME`) or at one address (`openai/NAME@host/path`). Raises DataError if it has none.
    """
    before = time.time() - (older_than_s or 0.0)
    with open_store(location) as store:
        known = store.models()
        models = [name for name in known if model in (None, name, name.rpartition("@")[0])]
        if model is not None and not models:
            raise DataError(f"{location}: it has no response of the model {model!r}. {nearest(model, known)}")
        tallies = tally_responses(store.chosen(before, models))
        damaged = store.n_bad
    counts: dict[str, int] = {}
    for (_, name, _), tally in sorted(tallies.items()):
        counts[name] = counts.get(name, 0) + tally.calls
    return Chosen(
        before=before,
        models=sorted(models),
        responses=counts,
        damaged=damaged,
        cost_usd=sum_usd(
            tally_usd(tally, price_of(name, settings)) for (_, name, _), tally in tallies.items()
        ),
    )


def prune_responses(location: LedgerLocation, chosen: Chosen) -> Pruned:
    """Delete the chosen responses and give their space back. Raises DataError when there is no ledger.

    What they saved stays counted. Responses that came after the choice stay too.
    """
    n_bytes = size_on_disk(location)
    with open_store(location) as store:
        n = store.delete(chosen.before, chosen.models)
        store.shrink()
    return Pruned(n, max(0, n_bytes - size_on_disk(location)))


@contextlib.contextmanager
def _whole_file(file: Path) -> Iterator[Path]:
    """Give a path to write to; it becomes `file` when the block ends without an error."""
    partial = file.with_name(file.name + ".partial")
    try:
        yield partial
        partial.replace(file)
    except OSError as mistake:
        raise DataError(
            f"{file}: could not be written ({mistake.strerror}). Free some disk space, then run again."
        ) from None
    finally:
        partial.unlink(missing_ok=True)


def _rows(lines: Iterable[bytes], file: Path) -> Iterator[Row]:
    """Yield the rows of an export. Raises DataError at the end, or after ten lines that are wrong."""
    read = msgspec.json.Decoder(StoredResponse).decode
    check = msgspec.json.Decoder(Completion).decode
    bad: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            stored = read(line)
            response = bytes(stored.response)
            check(response)
            row = (bytes.fromhex(stored.key), stored.model, response, stored.created.timestamp())
        except (msgspec.DecodeError, UnicodeDecodeError) as mistake:
            bad.append(f"{file}:{number}: {mistake}")
            if len(bad) == SHOWN_LINES:
                bad.append("(there may be more: only the first ten are shown)")
                break
            continue
        yield row
    if bad:
        raise DataError(
            f"{file}: nothing was imported, because these lines are not as `ragstone ledger export` "
            "writes them. Fix or delete them, and import again.\n" + "\n".join(bad)
        )
