"""What each row asked of models -> calls.jsonl.gz, in the order of the rows, the same bytes in every run."""

import contextlib
import gzip
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.records import Judgement

if TYPE_CHECKING:
    from ragstone.kernel.llm.call_trace import CallTrace, Exchange

QUICK = 1  # the level of compression: the next ones save a tenth of the file, and take three times as long


class CallLog:
    """Where the conversations of rows go; without a file it keeps none. paused: while calls are put off.

    listening: whether conversations are heard though there is no file: a worker hands them on.
    """

    def __init__(self, file: BufferedIOBase | None = None, *, listening: bool = False) -> None:
        self.paused = False
        self.listening = listening or file is not None
        self.n_kept = 0
        self._file = file

    def trace(self) -> "AbstractContextManager[CallTrace | None]":
        """Within the block, hear the conversations of the work on one row; None where nobody listens."""
        if not self.listening or self.paused:
            return contextlib.nullcontext()
        from ragstone.kernel.llm.call_trace import tracing

        return tracing()

    def keep(
        self,
        heard: "Iterable[Exchange]",
        *,
        question_id: str,
        systems: Sequence[str],
        judges: Iterable[str] = (),
    ) -> None:
        """Write the conversations of one row."""
        if self._file is None:
            return
        from ragstone.kernel.runs.asked import AskedCall

        for exchange in heard:
            row = AskedCall(
                question_id=question_id,
                systems=list(dict.fromkeys(systems)),
                judges=list(dict.fromkeys(judges)),
                model=exchange.model,
                messages=exchange.messages,
            )
            self._file.write(msgspec.json.encode(row) + b"\n")
            self.n_kept += 1

    def keep_judged(self, heard: "Iterable[Exchange]", judgements: Sequence[Judgement]) -> None:
        """Write the conversations of one row of one judge, or of several that were asked together."""
        if self._file is None:
            return
        self.keep(
            heard,
            question_id=judgements[0].question_id,
            systems=[row.system for row in judgements],
            judges=[row.judge for row in judgements],
        )

    def close(self) -> None:
        """Keep nothing from now on; the file is the opener's."""
        self._file, self.listening = None, False


@contextlib.contextmanager
def open_call_log(folder: Path) -> Iterator[CallLog]:
    """Give the log of a run; at the end of the block its file replaces that of an earlier run.

    A run that asked nothing has no such file; one that is interrupted leaves what was there before.
    """
    from ragstone.kernel.runs.asked import CALLS_FILE

    path = folder / CALLS_FILE
    partial = path.with_name(f"{path.name}.partial")
    try:
        # No name and no time in the header: the same calls give the same bytes.
        with (
            partial.open("wb") as raw,
            gzip.GzipFile("", "wb", compresslevel=QUICK, fileobj=raw, mtime=0) as file,
        ):
            log = CallLog(file)
            try:
                yield log
            finally:
                log.close()
        if log.n_kept:
            partial.replace(path)
        else:
            path.unlink(missing_ok=True)
    finally:
        partial.unlink(missing_ok=True)
