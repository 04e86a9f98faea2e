"""The log of an assistant: exchanges and what people say of them, masked, as rows that every room reads."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from ragstone.kernel.config.serving import LogSection
from ragstone.kernel.persistence.appending import Appender
from ragstone.kernel.privacy.masking import OwnWords, mask_personal_data, own_words
from ragstone.kernel.privacy.values import digest_of, mask_values
from ragstone.kernel.records import Answer, Context, Label, Step
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.folders import logged_files
from ragstone_assistant.conversation import Asked, LoopStep, Said
from ragstone_assistant.log._spans import SpanSender
from ragstone_assistant.planning.actions import OWN

SYSTEM = "assistant"
THUMB = "thumb"
CORRECTION = "correction"


def answer_row(
    exchange: Asked,
    outcome: Said,
    own: OwnWords | None,
    *,
    exchange_id: str,
    conversation: str | None,
    now: datetime,
) -> Answer:
    """Return the row of an exchange: question, answer, steps and tags masked together.

    The same value has the same placeholder in all of them. Passages are the documents' own words and stay. An
    exchange with an error has no answer, as every row of answers. conversation: see digest_of.
    """
    masked = mask_values(
        {
            "question": exchange.question,
            "answer": "" if outcome.error else outcome.text,
            "error": outcome.error or "",
            "steps": [[step.thought, step.arguments, step.observation] for step in outcome.steps],
            "tags": {**exchange.filters, **outcome.tags},
        },
        own,
    )
    steps = [*zip(outcome.steps, masked["steps"], strict=True)]
    own_tags = {"kind": outcome.kind, "model": outcome.model, "prompt_version": outcome.prompt_version}
    tags = {"lang": outcome.lang, **masked["tags"], **own_tags}
    searched = outcome.passages or any(step.action == "search_documents" for step in outcome.steps)
    return Answer(
        question_id=exchange_id,
        question=masked["question"],
        answer=masked["answer"],
        system=SYSTEM,
        contexts=[
            Context(
                text=passage.text,
                id=passage.chunk_id,
                document_id=passage.document_id,
                score=passage.score,
            )
            for passage in outcome.passages
        ]
        if searched
        else None,
        steps=[_call(step, *texts) for step, texts in steps if step.action and step.action not in OWN]
        or None,
        latency_s=outcome.latency_s,
        usage=outcome.usage,
        cost_usd=outcome.cost_usd,
        error=masked["error"] or None,
        tags={name: value for name, value in tags.items() if value},
        metadata={
            "time": iso(now),
            **({"conversation_id": conversation} if conversation else {}),
            "steps": [_step(step, *texts) for step, texts in steps],
            "citations": [citation.number for citation in outcome.citations],
        },
    )


def _step(step: LoopStep, thought: str, arguments: dict[str, Any], observation: str) -> dict[str, Any]:
    """Return a step as it stands in the row, with its texts as they are given."""
    return {
        "thought": thought,
        "action": step.action,
        "arguments": arguments,
        "observation": observation,
        "status": step.status,
        "latency_s": step.latency_s,
    }


def _call(step: LoopStep, thought: str, arguments: dict[str, Any], observation: str) -> Step:
    """Return a step that called a tool, or would have, as all rows have it."""
    done = step.status == "done"
    return Step(
        tool=step.action,
        arguments=arguments,
        result=observation if done else None,
        error=None if done else observation,
        seconds=step.latency_s,
        thought=thought or None,
    )


def label_rows(
    exchange_id: str, thumb: str | None, correction: str | None, own: OwnWords | None, now: datetime
) -> list[Label]:
    """Return what a person says of an exchange, its words masked; nothing for no thumb and no correction.

    A thumb is of the metric `thumb`, 1 for up and 0 for down. A correction without a thumb is of the metric
    `correction`, and 0: somebody put another answer in place of this one.
    """
    text = mask_personal_data(correction.strip(), own).text if correction and correction.strip() else None
    if thumb is None and text is None:
        return []
    row = Label(
        question_id=exchange_id,
        system=SYSTEM,
        metric=CORRECTION if thumb is None else THUMB,
        score=1.0 if thumb == "up" else 0.0,
        rationale=text,
        metadata={"time": iso(now)},
    )
    return [row]


def iso(now: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
        spans: SpanSender | None = None,
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
        self, exchange: Asked, outcome: Said, *, exchange_id: str, conversation_id: str | None, now: datetime
    ) -> None:
        """Write an exchange, masked; returns when it is on disk. Raises DataError where it cannot be.

        now: when the question came, with its zone.
        """

        def line() -> bytes:
            row = answer_row(
                exchange,
                outcome,
                self._own,
                exchange_id=exchange_id,
                conversation=None if conversation_id is None else digest_of(self._secret, conversation_id),
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
        spans=None if section.otlp_endpoint is None else SpanSender(section.otlp_endpoint),
    )


def read_exchanges(folder: Path) -> Iterator[Answer]:
    """Yield the exchanges of a log's folder, those of a file in order, the files by the time they begin.

    A last line that is still being written, or that a kill cut off, is passed over; nothing for a folder
    without a log. Raises DataError, with file and line, for any other line that is no exchange.
    """
    if logged_files(folder, Answer):
        yield from read_rows(folder, Answer)


def read_feedback(folder: Path) -> Iterator[Label]:
    """Yield what people said of exchanges, as read_exchanges does."""
    if logged_files(folder, Label):
        yield from read_rows(folder, Label)
