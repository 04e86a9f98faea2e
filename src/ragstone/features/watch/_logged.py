"""A row of a log, in anybody's columns -> an exchange as the monitor keeps it, or a person's word on one."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

import msgspec

from ragstone.features.watch._evaluations import Evaluation, Evaluations, evaluations_in
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.privacy.masking import OwnWords, mask_personal_data, mask_texts
from ragstone.kernel.records import Context, count_of
from ragstone.kernel.tables.columns import value_at
from ragstone.kernel.tables.interchange.values import amount_in, count_in, decoded, objects_in
from ragstone.kernel.tables.logs.exchange import (
    Columns,
    exchange_of,
    feedback_on,
    first_of,
    is_feedback_row,
    seconds_of,
)
from ragstone.kernel.tables.names import LOG_NAMES, question_key

SERVICE = "metadata.service"  # of a trace: the program, whose name is the system
FAILED = ("failed", "invalid", "error")  # what a step may have as its status
LONGEST_VALUE = 200  # characters of a tag
MOST_TAGS = 32  # of one row


class ExchangeUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Who asked, as keyed digests, and what the answer took; tokens: in and out. None: nobody tells.

    calls, failed: of tools.
    """

    user: str | None = None
    conversation: str | None = None
    latency_s: float | None = None
    tokens: int | None = None
    usd: float | None = None
    calls: int | None = None
    failed: int | None = None

    @property
    def who(self) -> str | None:
        """The conversation, else the user."""
        return self.conversation or self.user


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    """One exchange. time: seconds since 1970, None where the row tells none. feedback: from 0 to 1.

    name: the id that the row has, else one made of its question, as answer sheets have it.
    digest: what it is known by, see identity. span: in which it was traced. evaluations: what others' say.
    """

    name: str
    digest: bytes
    question: str
    answer: str | None = None
    time: float | None = None
    system: str | None = None
    contexts: list[Context] | None = None
    tags: dict[str, str] = {}
    feedback: float | None = None
    correction: str | None = None
    error: str | None = None
    usage: ExchangeUsage = ExchangeUsage()
    span: str | None = None
    evaluations: list[Evaluation] = []

    @property
    def day(self) -> date | None:
        """The day in UTC."""
        return None if self.time is None else datetime.fromtimestamp(self.time, UTC).date()


class Feedback(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of the exchange of this name, in a row of its own."""

    name: str
    feedback: float | None
    correction: str | None = None


class Reader:
    """Makes exchanges of rows, and counts what it could not read. key: of the digests of this store."""

    def __init__(self, section: MonitorSection, key: bytes) -> None:
        self._key = key
        self.unread_times = 0
        self.unread_feedback = 0
        self._columns = Columns(question=section.question, answer=section.answer)
        self._times = LOG_NAMES.times if section.time is None else (section.time,)
        self._feedback = LOG_NAMES.feedback if section.feedback is None else (section.feedback,)
        self._scale = section.feedback_scale
        names = dict.fromkeys([*section.tags, *section.strata])
        self._tags = {name: (name, *LOG_NAMES.tags.get(name, (f"metadata.{name}",))) for name in names}

    def read(self, raw: Mapping[str, Any]) -> Logged | Feedback | Evaluations | None:
        """Return what a row says; None for one that asks nothing and says nothing of an exchange."""
        if not all(isinstance(name, str) and name.islower() for name in raw):
            raw = {str(name).strip().casefold(): value for name, value in raw.items()} | {**raw}
        feedback = self._said(raw)
        if feedback is not None:
            return feedback
        if raw.keys() == {"evaluations", "metadata"}:  # as interchange/traces.py makes them
            listed = evaluations_in(raw["evaluations"])
            return Evaluations(name=value_at(raw, "metadata.trace_id") or "", rows=listed)
        exchange = exchange_of(raw, self._columns)
        if exchange is None:
            return None
        time = first_of(raw, self._times)
        when = None if time is None else seconds_of(time)
        self.unread_times += time is not None and when is None
        error = raw.get("error")
        traced = value_at(raw, "metadata.trace_id")
        number = value_at(raw, "metadata.exchange")  # in a trace of several
        name = exchange.id or (f"{traced}#{number}" if traced and number else traced and str(traced))
        name = name or question_key(exchange.question)
        parts = (name, exchange.system, when, exchange.question, exchange.answer)
        is_trace = bool(traced) and exchange.id is None
        span = value_at(raw, "metadata.span_id") if is_trace else None
        return Logged(
            name=name,
            digest=self._identity(["trace", name] if is_trace else parts),
            question=exchange.question,
            answer=exchange.answer,
            time=when,
            system=exchange.system,
            contexts=exchange.contexts,
            tags=self._tags_of(raw),
            feedback=self._score(first_of(raw, self._feedback)),
            usage=self._usage(raw),
            span=span if isinstance(span, str) else None,
            evaluations=evaluations_in(value_at(raw, "metadata.evaluations")) if is_trace else [],
            error=error.strip() if isinstance(error, str) and error.strip() else None,
        )

    def _identity(self, parts: Sequence[object]) -> bytes:
        return identity(parts, self._key)

    def _usage(self, raw: Mapping[str, Any]) -> ExchangeUsage:
        took = amount_in(first_of(raw, LOG_NAMES.latencies_s))
        milliseconds = amount_in(first_of(raw, LOG_NAMES.latencies_ms)) if took is None else None
        steps = objects_in(decoded(first_of(raw, LOG_NAMES.steps)))
        failed = sum(bool(step.get("error")) or step.get("status") in FAILED for step in steps)
        return ExchangeUsage(
            user=self._who(raw, LOG_NAMES.users),
            conversation=self._who(raw, LOG_NAMES.conversations),
            latency_s=took if milliseconds is None else milliseconds / 1000,
            tokens=_tokens(raw),
            usd=amount_in(first_of(raw, LOG_NAMES.costs)),
            calls=len(steps) or None,  # of tools, and how many of them failed
            failed=failed if steps else None,
        )

    def _who(self, raw: Mapping[str, Any], columns: Sequence[str]) -> str | None:
        value = first_of(raw, columns)
        return self._identity(["who", str(value)]).hex() if isinstance(value, str | int) else None

    def _said(self, raw: Mapping[str, Any]) -> Feedback | None:
        """Return the feedback that a row of labels holds, None for any other row."""
        if not is_feedback_row(raw):
            return None
        rationale = raw.get("rationale")
        return Feedback(
            name=str(raw["question_id"]),
            feedback=self._score(raw["score"], raw.get("metric")),
            correction=rationale if isinstance(rationale, str) and rationale.strip() else None,
        )

    def _score(self, feedback: object, metric: object = None) -> float | None:
        """Return a feedback from 0 to 1, by the scale of the settings; one that is not on it is counted."""
        value = feedback_on(feedback, self._scale, metric=metric)
        self.unread_feedback += value is None and feedback not in (None, "")
        return value

    def _tags_of(self, raw: Mapping[str, Any]) -> dict[str, str]:
        """Return the tags that a row carries as such, and the columns that the settings name."""
        inside = raw.get("tags")
        own_tags = inside if isinstance(inside, Mapping) else {}
        tags = {str(name): text for name, value in own_tags.items() if (text := _tag(value))}
        for name, columns in self._tags.items():
            if name not in tags and (text := _tag(first_of(raw, columns))):
                tags[name] = text
        system = raw.get("system")
        traced = value_at(raw, "metadata.trace_id")
        if "model" in self._tags and isinstance(system, str) and traced and system != value_at(raw, SERVICE):
            tags.setdefault("model", system)  # of a trace of no known program, the system is the model
        return dict(list(tags.items())[:MOST_TAGS])


def identity(parts: Sequence[object], key: bytes) -> bytes:
    """Return 16 bytes that an exchange is known by: the same for the same parts and key."""
    digest = hashlib.blake2b(digest_size=16, key=key)
    for part in parts:
        encoded = repr(part).encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.digest()


def _tokens(raw: Mapping[str, Any]) -> int | None:
    """Return the tokens of an answer: the total, else those in and out."""
    inside = first_of(raw, LOG_NAMES.usages)
    counts = (
        inside
        if isinstance(inside, Mapping)
        else {name: raw.get(name) for name in sum(LOG_NAMES.tokens, ()) if "_" in name}
    )
    total, *parts = (count_in(counts, names) for names in LOG_NAMES.tokens)
    known = [n for n in parts if n is not None]
    tokens = total if total is not None or not known else sum(known)
    return count_of(tokens)


def _tag(value: object) -> str | None:
    """Return a value that can be a tag; None for none, and for what is no single value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value).strip()[:LONGEST_VALUE] or None
    return None


REMEMBERED = 50_000  # texts: passages come again and again


class Masker:
    """Masks what people and documents say; what was masked before is not looked at again.

    Question and answer are masked together, so that the same value has the same placeholder. Where something
    was found in them, the contexts are masked along with them: an answer that gives a number from its context
    must still agree with it. Else each passage is masked by itself.
    """

    def __init__(self, own: OwnWords | None) -> None:
        self._own = own
        self._alone = lru_cache(REMEMBERED)(lambda text: mask_personal_data(text, own).text)
        self._pair = lru_cache(REMEMBERED)(self._masked_pair)

    def exchange(self, logged: Logged) -> Logged:
        """Return an exchange without personal data."""
        question, answer, has_personal = self._pair(logged.question, logged.answer or "")
        contexts = logged.contexts
        if contexts and has_personal:
            texts = [logged.question, logged.answer or "", *(context.text for context in contexts)]
            question, answer, *passages = [masked.text for masked in mask_texts(texts, self._own)]
            contexts = _with_texts(contexts, passages)
        elif contexts:
            contexts = _with_texts(contexts, [self._alone(context.text) for context in contexts])
        return msgspec.structs.replace(
            logged,
            question=question,
            answer=None if logged.answer is None else answer,
            contexts=contexts,
            tags={name: self._alone(value) for name, value in logged.tags.items()},
            error=None if logged.error is None else self._alone(logged.error),
            evaluations=[self._evaluation(row) for row in logged.evaluations],
        )

    def evaluations(self, evaluations: Evaluations) -> Evaluations:
        """Return what others' evaluators say without personal data."""
        rows = [self._evaluation(row) for row in evaluations.rows]
        return msgspec.structs.replace(evaluations, rows=rows)

    def _evaluation(self, row: Evaluation) -> Evaluation:
        label, reason, error = (
            None if text is None else self._alone(text) for text in (row.label, row.reason, row.error)
        )
        return msgspec.structs.replace(row, label=label, reason=reason, error=error)

    def said(self, feedback: Feedback) -> Feedback:
        """Return what a person says without personal data."""
        if feedback.correction is None:
            return feedback
        return msgspec.structs.replace(feedback, correction=self._alone(feedback.correction))

    def _masked_pair(self, question: str, answer: str) -> tuple[str, str, bool]:
        masked = mask_texts([question, answer], self._own)
        return masked[0].text, masked[1].text, any(text.found for text in masked)


def _with_texts(contexts: Sequence[Context], texts: Sequence[str]) -> list[Context]:
    return [
        msgspec.structs.replace(context, text=text) for context, text in zip(contexts, texts, strict=True)
    ]
