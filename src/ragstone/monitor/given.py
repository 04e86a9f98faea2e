"""Files of judgements that were made elsewhere -> judgements, quickly: a log of a year has millions."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ragstone.errors import DataError
from ragstone.records import Judgement
from ragstone.tables import read_rows


def check_given(files: Iterable[Path | str]) -> None:
    """Check that the files are there, before a log is read for minutes. Raises DataError."""
    for file in files:
        if not Path(file).exists():
            raise DataError(
                f"{file}: no such file of judgements. Check the spelling and the folder that you are in."
            )


def given_judgements(path: Path | str) -> Iterator[Judgement]:
    """Yield the judgements of a file, as read_rows does, without remembering which were there already.

    JSON lines as Ragstone writes them are decoded at once; a line that is otherwise, and any other file, is
    left to read_rows, which says what is wrong with it. Raises DataError.
    """
    path = Path(path)
    if path.suffix != ".jsonl" or not path.is_file() or not _is_ours(path):
        yield from read_rows(path, Judgement)
        return
    decode = msgspec.json.Decoder(Judgement).decode
    with path.open("rb") as file:
        for line in file:
            if not line.isspace():
                yield decode(line)


def _is_ours(path: Path) -> bool:
    """Say whether every line of a file is a judgement under its own names."""
    decode = msgspec.json.Decoder(Judgement).decode
    n = 0
    with path.open("rb") as file:
        for line in file:
            if line.isspace():
                continue
            n += 1
            try:
                decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return False
    return n > 0
