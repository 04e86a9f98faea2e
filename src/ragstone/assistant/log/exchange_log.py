"""The log of an assistant: every exchange, and what people say of it, as rows that every room reads."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.assistant.conversation import Asked, Said
from ragstone.assistant.log.appending import Appender
from ragstone.assistant.log.row import answer_row, digest_of, label_rows
from ragstone.dataset.masking import OwnWords

EXCHANGES, FEEDBACK = "exchanges", "feedback"


class ExchangeLog:
    """Writes exchanges to `exchanges-*.jsonl` and feedback to `feedback-*.jsonl` in a folder.

    problem: why the log cannot be written, and what to do; None from the next line on that can.
    """

    def __init__(self, folder: Path, rotate_bytes: int, own: OwnWords | None, secret: bytes) -> None:
        """rotate_bytes: a file that would grow beyond is followed by another. secret: for digest_of.

        A folder that cannot be written to is no error here: see `problem`.
        """
        self.folder = folder
        self._own = own
        self._secret = secret
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
        """Write what waits, and close the files."""
        self._exchanges.close()
        self._feedback.close()
