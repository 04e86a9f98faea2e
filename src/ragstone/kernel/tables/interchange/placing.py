"""Verdicts on spans and traces -> the answers that these are the work of."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragstone.kernel.tables.interchange.assessments import Assessment
from ragstone.kernel.tables.interchange.trace_steps import TraceStep
from ragstone.kernel.tables.interchange.traces import answers_with_spans
from ragstone.kernel.tables.names import question_key


class SpanVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict, and the trace and the span that it is on, None where it is not said."""

    assessment: Assessment
    trace: str | None
    span: str | None


class AnsweredSpans:
    """The answers in the traces of a file, by their spans, with the ids that the file's answer sheet has."""

    def __init__(self, steps: Sequence[TraceStep]) -> None:
        self._by_span: dict[str, dict[str, Any]] = {}
        self._by_trace: dict[str, list[dict[str, Any]]] = {}
        self._tops: set[str] = set()
        seen: Counter[tuple[str, object]] = Counter()
        for row, inside in answers_with_spans(steps):
            name, system = question_key(row["question"]), row.get("system")
            seen[name, system] += 1
            nth = seen[name, system]
            subject: dict[str, Any] = {
                "subject": name if nth == 1 else f"{name}-{nth}",
                **{field: row[field] for field in ("system", "question", "answer") if field in row},
            }
            self._tops |= {inside[0].id} if inside[0].id else set()
            self._by_span |= {step.id: subject for step in inside if step.id}
            if inside[0].trace:
                self._by_trace.setdefault(inside[0].trace, []).append(subject)

    def placed(self, verdicts: Sequence[SpanVerdict]) -> Iterator[Assessment]:
        """Yield the assessments with the answers that they are on.

        Where an evaluator was run on several spans of an answer, one on its top span is on the answer, and
        the others are on parts of it.
        """
        spans: dict[tuple[object, ...], set[str | None]] = {}
        found = [(verdict, self._answer_of(verdict)) for verdict in verdicts]
        for verdict, subject in found:
            spans.setdefault(_judged_by(verdict, subject), set()).add(verdict.span)
        for verdict, subject in found:
            beside = spans[_judged_by(verdict, subject)]
            ids = {
                name: value
                for name, value in (("trace_id", verdict.trace), ("span_id", verdict.span))
                if value is not None
            }
            is_part = len(beside) > 1 and verdict.span not in self._tops
            one = msgspec.structs.replace(
                verdict.assessment,
                ids={**ids, **verdict.assessment.ids},
                part=verdict.assessment.part or (verdict.span if is_part else None),
            )
            yield msgspec.structs.replace(one, **subject)

    def _answer_of(self, verdict: SpanVerdict) -> dict[str, Any]:
        subject = self._by_span.get(verdict.span or "")
        in_trace = self._by_trace.get(verdict.trace or "", ())
        if subject is None and len(in_trace) == 1:
            subject = in_trace[0]
        one = verdict.assessment
        if subject is None and one.subject is None and not one.question:
            named = verdict.trace or verdict.span
            return {} if named is None else {"subject": named}
        return subject or {}


def _judged_by(verdict: SpanVerdict, subject: Mapping[str, Any]) -> tuple[object, ...]:
    one = verdict.assessment
    return (
        one.name,
        one.version,
        one.source,
        one.by,
        one.annotator,
        subject.get("subject"),
        subject.get("system"),
    )
