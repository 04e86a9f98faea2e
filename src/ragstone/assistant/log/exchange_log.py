"""The log of an assistant: every exchange, and what people say of it, as rows that every room reads."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.assistant.conversation import Asked, Said
from ragstone.assistant.log.appending import Appender
from ragstone.assistant.log.row import answer_row, digest_of, label_rows
from ragstone.assistant.log.spans import Spans
from ragstone.config.assistant import LogSection
from ragstone.privacy.masking import OwnWords, own_words

EXCHANGES, FEEDBACK = "exchanges", "feedback"


class ExchangeLog:
    """Writes exchanges to `exchanges-*.jsonl` and feedback to `feedback-*.jsonl` in a folder.

    problem: why the log cannot be written, and what to do; None from the next line on that can.
    """

    def __init__(
        self,
        folder: Path,
        rotate_bytes: int,
        own: OwnWords | None,
        secret: bytes,
        *,
        spans: Spans | None = None,
    ) -> None:
        """rotate_bytes: a file that would grow beyond is followed by another. secret: for digest_of.
        spans: gets every exchange too.

        A folder that cannot be written to is no error here: see `problem`.
        """
        self.folder = folder
        self._own = own
        self._secret = secret
        self._spans = spans
        self._exchanges = Appender(folder, EXCHANGES, rotate_bytes)
        self._feedback = Appender(folder, FEEDBACK, rotate_bytes)
        self.problem = self._exchanges.problem

    async def write(
        self, asked: Asked, said: Said, *, exchange_id: str, conversation_id: str | None, now: datetime
    ) -> None:
        """Write an exchange, masked; returns when it is on disk. Raises DataError where it cannot be.

        now: when the question came, with its zone.
        """

        def line() -> bytes:
            row = answer_row(
                asked,
                said,
                self._own,
                exchange_id=exchange_id,
                conversation=digest_of(self._secret, conversation_id),
                now=now,
            )
            if self._spans is not None:
                self._spans.send(row, now)
            return msgspec.json.encode(row)

        await self._append(self._exchanges, line, now)

    async def feedback(
        self, exchange_id: str, thumb: Literal["up", "down"] | None, correction: str | None, now: datetime
    ) -> None:
        """Write what a person says of an exchange, masked; returns when it is on disk.

        Raises DataError where it cannot be. Neither a thumb nor a correction: nothing is written.
        """
        if thumb is None and not (correction or "").strip():
            return

        def line() -> bytes:
            (row,) = label_rows(exchange_id, thumb, correction, self._own, now)
            return msgspec.json.encode(row)

        await self._append(self._feedback, line, now)

    async def _append(self, file: Appender, line: Callable[[], bytes], now: datetime) -> None:
        try:
            await file.append(line, now)
        finally:
            self.problem = file.problem

    def close(self) -> None:
        """Write what waits, and close the files; spans that wait are sent, for some seconds at most."""
        self._exchanges.close()
        self._feedback.close()
        if self._spans is not None:
            self._spans.close()


def open_log(section: LogSection, root: Path, secret: bytes) -> ExchangeLog:
    """Return the log that `[assistant.log]` describes; root: its folder is relative to that.

    Raises ConfigError for a wrong expression in `mask`, MissingExtra for `otlp_endpoint` without its package.
    """
    return ExchangeLog(
        root / Path(section.folder).expanduser(),
        section.rotate_mb * 1_000_000,
        own_words(section.mask),
        secret,
        spans=None if section.otlp_endpoint is None else Spans(section.otlp_endpoint),
    )
