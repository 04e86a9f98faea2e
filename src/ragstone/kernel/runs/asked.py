"""calls.jsonl.gz of a run folder: what was asked of models for each row and what they said, word for word."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.llm.prompt import Message
from ragstone.kernel.runs.folders import NOT_JSON

CALLS_FILE = "calls.jsonl.gz"


class AskedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One conversation with a model, for an answer or (judges) for judgements.

    systems: whose answer; two where a judge compared them. messages: see llm.call_trace.Exchange.
    """

    question_id: str
    systems: list[str]
    model: str
    messages: tuple[Message, ...]
    judges: list[str] = []


def read_asked(folder: Path) -> Iterator[AskedCall]:
    """Yield the conversations of a run, in the order of its rows; none where the folder has no such file.

    Raises DataError for a file that is not one.
    """
    path = folder / CALLS_FILE
    if not path.is_file():
        return
    decoder = msgspec.json.Decoder(AskedCall)
    try:
        with gzip.open(path, "rb") as lines:
            for line in lines:
                yield decoder.decode(line)
    except (OSError, EOFError, zlib.error, *NOT_JSON) as mistake:
        raise DataError(
            f"{path}: cannot be read ({mistake}). Delete it, and the report shows no prompts; or run again: "
            "no call in the ledger is paid for twice."
        ) from None
