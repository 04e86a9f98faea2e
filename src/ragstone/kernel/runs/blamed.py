"""What blame.json and causes.jsonl of a run hold: where its lost points went."""

import hashlib
from collections import defaultdict
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.causes import BenchedChange, Caused, SystemBlame
from ragstone.kernel.runs.folders import NOT_JSON
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.tables.shown import Displayed

BLAME = "blame.json"


CAUSES = "causes.jsonl"


MADE_FROM = ("questions.jsonl", "answers.jsonl", "judgements.jsonl")


class BlameSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True, omit_defaults=True):
    """Where the lost points of a run went: one table a system.

    made_from: file of the run -> its digest: blame of other rows is not shown beside these. models: role ->
    what was asked. notes: what holds for all systems. benched: with `what_if`, what benches beside the run
    measured on its questions and documents. calls: what this command asked for; not in the file.
    """

    name: str
    version: str
    systems: list[SystemBlame]
    models: dict[str, str]
    made_from: dict[str, str]
    notes: list[str]
    benched: list[BenchedChange] = []
    calls: Calls | None = None


def digests(folder: Path) -> dict[str, str]:
    """Return the digests of the files of a run that blame is made from."""
    by_name = {}
    for name in MADE_FROM:
        if (folder / name).is_file():
            with (folder / name).open("rb") as file:
                by_name[name] = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return by_name


def read_blame(folder: Path) -> BlameSummary | None:
    """Return the blame of a run folder; None without one, or where the run was made anew since.

    Raises DataError for a file that holds something else.
    """
    if not (folder / BLAME).is_file():
        return None
    blamed = read_numbers(folder / BLAME, BlameSummary, "blame of a run", "ragstone blame RUN")
    return blamed if blamed.made_from == digests(folder) else None


def read_causes(folder: Path) -> dict[str, list[Caused]]:
    """Return the causes of a run folder by question id; none without the file. Raises DataError."""
    path = folder / CAUSES
    grouped: dict[str, list[Caused]] = defaultdict(list)
    if not path.is_file():
        return {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            row = msgspec.json.decode(line, type=Caused)
        except NOT_JSON as mistake:
            raise DataError(
                f"{path}:{number}: not a cause ({mistake}). Run `ragstone blame` again: it writes this file "
                "again."
            ) from None
        grouped[row.question_id].append(row)
    return dict(grouped)
