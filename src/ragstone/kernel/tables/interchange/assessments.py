"""What evaluators of other tools, and people in them, say of answers -> rows of judgements and of labels.

A reader of a tool yields an `Assessment` for each verdict, with its value as the tool wrote it; here alone it
becomes a score or a status. Nothing is dropped: of verdicts that say the same of the same answer the latest
counts, and holds the earlier ones in its metadata.
"""

import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.records import OWN_THRESHOLD, YES_NO, Answer, Status
from ragstone.kernel.tables._yes_no import as_yes_no
from ragstone.kernel.tables.columns import as_number
from ragstone.kernel.tables.labels import CRITERIA, words_error
from ragstone.kernel.tables.names import accepted_names, fold, question_key

LOG = logging.getLogger(__name__)

Scale = tuple[float, float]
Value = bool | int | float | str | None


class Assessment(msgspec.Struct, frozen=True, kw_only=True):
    """What one evaluator of another tool, or one person, says of one answer.

    number: the line that it stands in. tool: who wrote the file. name: the evaluator's, or of what a person
    was asked. value: the score as it is written, also as text, or true and false; None where there is only a
    `label`. subject: the id of what was assessed (row, example, trace); None where it is known by its
    `question` alone, or not at all. ids: name -> id of further things that it can be found by (`trace_id`,
    `span_id`). part: it is of a part of the answer, such as one passage, of this id. by: whose verdict it is.
    version, source: what tells evaluators of one name apart. model: that the evaluator asked, NO_MODEL for
    code. scale, threshold: where the tool states them; threshold: the least score that passes. error: that
    of the evaluator; error_type: its class or code. status: where the tool says what became of it. at: when,
    in seconds since 1970. id: of the assessment itself. notes: what else it says. row: of a judgement that
    Ragstone wrote, its fields as they were.
    """

    number: int
    tool: str
    name: str
    value: Value = None
    label: str | None = None
    subject: str | None = None
    system: str | None = None
    question: str | None = None
    answer: str | None = None
    reference: str | list[str] | None = None
    ids: Mapping[str, str] = {}
    part: str | None = None
    by: Literal["evaluator", "person"] = "evaluator"
    annotator: str | None = None
    version: str | int | None = None
    source: str | None = None
    model: str | None = None
    scale: Scale | None = None
    threshold: float | None = None
    rationale: str | None = None
    status: Status | None = None
    error: str | None = None
    error_type: str | None = None
    at: float | None = None
    id: str | None = None
    notes: Mapping[str, Any] = {}
    row: Mapping[str, Any] | None = None


Numbered = tuple[int, Any]

_STATUSES: tuple[tuple[re.Pattern[str], Status], ...] = (
    (re.compile(r"time.?d?.?out|deadline|\b(?:408|504)\b"), "timeout"),
    (re.compile(r"rate.?limit|too.?many.?requests|throttl|\b429\b"), "rate_limited"),
    (re.compile(r"content.?filter|refus"), "refused"),
    (re.compile(r"pars(?:e|er|ing)|jsondecode|unexpectedmodelbehaviou?r"), "unparsable"),
)
_OPINIONS: Mapping[str, Status] = {
    **dict.fromkeys(("na", "n/a", "notapplicable", "skipped"), "not_applicable"),
    **dict.fromkeys(("unknown", "cannottell", "unsure"), "abstained"),
}
_LOOKED_AT = 300  # characters of an error's text
_MOST_SOURCES = 20  # of an evaluator of one name and version
_WORD = 100  # characters of a label that is shown
_NUMERAL = re.compile(
    r"\s*[-+]?(?:[\d.,]+(?:e[-+]?\d+)?\s*%?|nan|inf(?:inity)?)\s*", re.ASCII | re.IGNORECASE
)


def metric_of(name: str) -> str:
    """Return the metric that an evaluator of this name measures: one of ours, else it is called the same."""
    return CRITERIA.get(fold(name)) or name


def judgement_rows(
    assessments: Iterable[Assessment], where: str, words: Mapping[str, float] = {}
) -> Iterator[Numbered]:
    """Yield the fields of a judgement for each verdict of an evaluator, in order.

    words: label in small letters -> score, for evaluators that give labels alone. Tells (logging) what
    repeats, what names no answer and which labels have no score. Raises ColumnsError where no verdict has a
    score because all are such labels.
    """
    told = _once(_as_judges([one for one in assessments if one.by == "evaluator"], where), where)
    names = _judge_names([one for one, _ in told])
    outcomes = [_outcome(one, words) for one, _ in told]
    unknown: dict[str, int] = {}
    for outcome in outcomes:
        word = outcome.pop("word", None)
        if word is not None:
            unknown[word] = unknown.get(word, 0) + 1
    if unknown and all(outcome["status"] != "scored" for outcome in outcomes):
        raise words_error(where, unknown, words)
    if unknown:
        LOG.warning(
            "%s: no score is known for the label%s %s: these verdicts have status unparsable. `ragstone "
            "agree --map LABEL=SCORE` says what a label stands for.",
            where,
            "s" * (len(unknown) > 1),
            ", ".join(f"{word} ({n:,})" for word, n in [*unknown.items()][:10]),
        )
    ids = _question_ids([one for one, _ in told], where)
    scales = _scales([names[one_key] for one_key in map(_key_of_judge, (one for one, _ in told))], outcomes)
    for (one, earlier), outcome, question_id in zip(told, outcomes, ids, strict=True):
        judge = names[_key_of_judge(one)]
        scale = scales.get(judge)
        label = outcome.pop("label", None)
        # A score that comes with a label counts as the number of a category, unless it is a share.
        beside = label is not None and scale not in (None, YES_NO)
        notes = _metadata(one, earlier) | ({"label": label} if beside else {})
        row = {
            "question_id": question_id,
            "system": one.system or "default",
            "judge": judge,
            "metric": metric_of(one.name),
            "model": _model(one.model, one.tool),
            "prompt_version": _version_number(one.version) or 0,
            **outcome,
            "scale": list(scale) if scale else None,
            "label": None if beside else label,
            "metadata": notes,
        }
        yield one.number, {name: value for name, value in row.items() if value is not None}


def label_rows(assessments: Iterable[Assessment], where: str) -> Iterator[Numbered]:
    """Yield the fields of a label for each annotation by a person, in order; words are scored by the reader.

    Tells (logging) how many have no value: a note, or a text that corrects the answer, is no label.
    """
    people = [one for one in assessments if one.by == "person"]
    valued = [one for one in people if grade_in(one) is not None]
    if len(valued) < len(people):
        LOG.warning(
            "%s: %s of people %s no score and no label: such an annotation becomes no label.",
            where,
            plural(len(people) - len(valued), "annotation"),
            "has" if len(people) - len(valued) == 1 else "have",
        )
    told = _once(valued, where)
    for (one, earlier), question_id in zip(told, _question_ids([one for one, _ in told], where), strict=True):
        feedback = re.search(r"feedback|thumb|rating|reaction", one.name.casefold())
        metric = None if feedback or CRITERIA.get(fold(one.name), "") is None else metric_of(one.name)
        row = {
            "question_id": question_id,
            "system": one.system or "default",
            "score": grade_in(one),
            "metric": metric,
            "annotator": one.annotator,
            "rationale": one.rationale,
            "metadata": _metadata(one, earlier),
        }
        yield one.number, {name: value for name, value in row.items() if value is not None}


def no_people(where: str, assessments: Sequence[Assessment]) -> DataError:
    """Return the error for a file that is read for labels and holds verdicts of evaluators alone."""
    names = sorted({one.name for one in assessments})
    return DataError(
        f"{where}: {plural(len(assessments), 'verdict')} of evaluators ({', '.join(names[:5])}), but none by "
        "a person. Give people's labels in another file."
    )


def no_evaluators(where: str, n: int) -> DataError:
    """Return the error for a file that is read for judgements and holds verdicts of people alone."""
    return DataError(
        f"{where}: {plural(n, 'verdict')} by people, but none of an evaluator. They are labels: give them as "
        "the second file, `ragstone agree JUDGEMENTS LABELS`."
    )


def no_verdicts(where: str) -> DataError:
    """Return the error for a file of another tool that is read for judgements and holds answers alone."""
    return DataError(
        f"{where}: answers of another tool, but no verdict of an evaluator. Write the file with its scores, "
        "or judge the answers: `ragstone judge FILE --judge NAME`."
    )


def answered_in(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row says of the answer that was assessed, as fields of `Assessment`.

    subject: its id; system, question, answer and reference as far as it holds them, under the names that
    columns of an answer sheet have. A name may stand behind a dot (`inputs.query`).
    """
    named: dict[str, Any] = {}
    for name, value in raw.items():
        if isinstance(value, str | int | list) and not isinstance(value, bool) and value != "":
            named.setdefault(fold(name), value)
            named.setdefault(fold(name.rpartition(".")[2]), value)
    found: dict[str, Any] = {}
    for field, column in _ANSWERED.items():
        value = next(
            (named[fold(name)] for name in accepted_names(Answer, column) if fold(name) in named), None
        )
        if field == "reference" and isinstance(value, list):
            value = [one for one in value if isinstance(one, str)]
        elif value is not None and field != "subject" and not isinstance(value, str):
            value = None
        if value is not None and not (field == "subject" and isinstance(value, list)):
            found[field] = str(value) if field == "subject" else value
    return found


_ANSWERED = {
    "subject": "question_id",
    "system": "system",
    "question": "question",
    "answer": "answer",
    "reference": "reference",
}


def grade_in(one: Assessment) -> Value:
    """Return what a person gave: the value, else the label; None where there is neither, as in a note."""
    value = one.label if one.value is None or one.value == "" else one.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return None if value == "" else value


def _metadata(one: Assessment, earlier: Sequence[Assessment]) -> dict[str, Any]:
    """Return what is known beside a verdict. What a tool calls its own fields stays together in `notes`."""
    known = {
        "tool": one.tool,
        "question": one.question,
        "answer": one.answer,
        "reference": one.reference,
        **one.ids,
        "part": one.part,
        "evaluator_version": None if _version_number(one.version) is not None else one.version,
        "evaluator_source": one.source,
        "error_type": one.error_type,
        OWN_THRESHOLD: one.threshold if one.by == "evaluator" else None,
        "notes": dict(one.notes) or None,
        "earlier": [_brief(other) for other in earlier] or None,
    }
    return {name: value for name, value in known.items() if value is not None}


def _brief(one: Assessment) -> dict[str, Any]:
    values = {
        "value": one.value if not isinstance(one.value, float) or math.isfinite(one.value) else None,
        "label": one.label,
        "rationale": one.rationale,
        "error": one.error,
        "id": one.id,
    }
    return {name: value for name, value in values.items() if value is not None}


def _outcome(one: Assessment, words: Mapping[str, float]) -> dict[str, Any]:
    """Return status, score, label, rationale, error; the `scale` of its form; `word` if it has no score."""
    texts = [text for text in (one.value, one.label) if isinstance(text, str) and text.strip()]
    said: dict[str, Any] = {
        "label": one.label or next((text for text in texts if not _NUMERAL.fullmatch(text)), None),
        "rationale": one.rationale,
        "error": one.error,
    }
    if one.status is not None and one.status != "scored":
        return {**said, "status": one.status}
    if one.error is not None or one.error_type is not None:
        # What it was is told by the class or code of the error, else by its text.
        text = (one.error_type or one.error or "")[:_LOOKED_AT].casefold()
        known = next((status for pattern, status in _STATUSES if pattern.search(text)), "error")
        return {**said, "status": known, "error": one.error or one.rationale or one.error_type}
    if isinstance(one.value, bool):
        return {**said, "status": "scored", "score": float(one.value), "scale": YES_NO}
    if isinstance(one.value, int | float):
        return {**said, **_number(one.value, one)}
    if not texts:
        return {**said, "status": "unparsable", "rationale": one.rationale or "it gave no score and no label"}
    for text in texts:
        if (found := _of_text(text, one, words)) is not None:
            return {**said, **found}
    word = texts[-1].strip()[:_WORD]
    why = one.rationale or f"no score is known for the label {word!r}"
    return {**said, "status": "unparsable", "rationale": why, "word": word}


def _of_text(text: str, one: Assessment, words: Mapping[str, float]) -> dict[str, Any] | None:
    """Return the status of a value or label that is text, and its score; None where nobody can tell."""
    if (score := words.get(text.strip().casefold())) is not None:
        return {"status": "scored", "score": score}
    if (opinion := _OPINIONS.get(fold(text))) is not None:
        return {"status": opinion}
    if _NUMERAL.fullmatch(text):
        return _number(text, one)
    right = as_yes_no(text)
    return None if right is None else {"status": "scored", "score": float(right), "scale": YES_NO}


def _number(value: float | str, one: Assessment) -> dict[str, Any]:
    """Return the status of a value that is written as a number, and its score."""
    try:
        return {"status": "scored", "score": as_number(value), "scale": one.scale}
    except (ValueError, OverflowError):
        why = f"its score is {str(value)[:_WORD]!r}, which is not a number"
        return {"status": "unparsable", "rationale": one.rationale or why}


def _once(assessments: Sequence[Assessment], where: str) -> list[tuple[Assessment, list[Assessment]]]:
    """Return each verdict on an answer once, the latest, with those that it replaces.

    One evaluator of an answer may have been run on several of its parts: a verdict on a part is of its own.
    """
    kept: dict[tuple[object, ...], list[Assessment]] = {}
    for at, one in enumerate(assessments):
        named = one.subject or one.question or next(iter(one.ids.values()), None)
        subject = (named, one.system, one.part) if named else (at,)
        kept.setdefault((*subject, _key_of_judge(one), one.by, one.annotator), []).append(one)
    n_same = n_replaced = 0
    once: list[tuple[Assessment, list[Assessment]]] = []
    for repeated in kept.values():
        in_time = sorted(repeated, key=lambda one: -math.inf if one.at is None else one.at)
        latest = in_time.pop()
        earlier = [one for one in in_time if _brief(one) != _brief(latest)]
        n_same += len(in_time) - len(earlier)
        n_replaced += len(earlier)
        once.append((latest, earlier))
    if n_same or n_replaced:
        LOG.warning(
            "%s: %s %s an earlier one on the same answer%s.",
            where,
            plural(n_same + n_replaced, "verdict"),
            "repeats" if n_same + n_replaced == 1 else "repeat",
            f", {n_replaced:,} with another value: the latest counts, and keeps the others as `earlier`"
            if n_replaced
            else ": each counts once",
        )
    return once


def _as_judges(assessments: Sequence[Assessment], where: str) -> list[Assessment]:
    """Return verdicts with what tells their evaluators apart made whole.

    One that does not name its model, as those that failed do not, has the only model that its evaluator
    names elsewhere. An evaluator whose source changes from row to row, such as one with a rubric for each
    case, is one judge: the source is then a note.
    """
    sources: dict[tuple[str, str | int | None], set[str | None]] = {}
    for one in assessments:
        sources.setdefault((one.name, one.version), set()).add(one.source)
    changing = {key for key, known in sources.items() if len(known) > _MOST_SOURCES}
    for name, _ in changing:
        LOG.warning(
            "%s: the evaluator %s has more than %d sources, and counts as one judge; its metadata names "
            "them.",
            where,
            name[:_WORD],
            _MOST_SOURCES,
        )
    whole = [
        msgspec.structs.replace(one, source=None, notes={**one.notes, "evaluator_source": one.source})
        if one.source is not None and (one.name, one.version) in changing
        else one
        for one in assessments
    ]
    models: dict[_JudgeKey, set[str]] = {}
    for one in whole:
        if one.model is not None:
            models.setdefault((one.name, one.version, one.source, None, one.tool), set()).add(one.model)
    alone = {key: next(iter(known)) for key, known in models.items() if len(known) == 1}
    return [
        msgspec.structs.replace(one, model=alone[_key_of_judge(one)]) if _key_of_judge(one) in alone else one
        for one in whole
    ]


_JudgeKey = tuple[str, str | int | None, str | None, str | None, str]


def _key_of_judge(one: Assessment) -> _JudgeKey:
    return one.name, one.version, one.source, one.model, one.tool


def _model(model: str | None, tool: str) -> str:
    """Return the model of a judgement: `unknown (Langfuse)` where the tool does not say which was asked.

    The tool is in it, for judges of one name in two tools are not the same judge.
    """
    return model or f"unknown ({tool})"


def _judge_names(assessments: Sequence[Assessment]) -> dict[_JudgeKey, str]:
    """Return what each evaluator is called. Of one name, those with another version or source are told apart.

    A version that is no whole number is always part of the name, for `prompt_version` cannot hold it.
    """
    keys = list(dict.fromkeys(map(_key_of_judge, assessments)))
    by_name: dict[tuple[str, str], list[_JudgeKey]] = {}
    for key in keys:
        by_name.setdefault((key[0], _model(key[3], key[4])), []).append(key)
    names: dict[_JudgeKey, str] = {}
    for (name, _), alike in by_name.items():
        sources: dict[str | int | None, dict[str | None, int]] = {}
        several_tools = len({key[4] for key in alike}) > 1
        for _, version, source, _, _ in alike:
            numbered = sources.setdefault(version, {})
            numbered.setdefault(source, len(numbered) + 1)
        for key in alike:
            _, version, source, _, tool = key
            details = {
                "version": version if len(sources) > 1 or _version_number(version) is None else None,
                "source": sources[version][source] if len(sources[version]) > 1 else None,
                "tool": tool if several_tools else None,
            }
            told = ",".join(f"{detail}={one}" for detail, one in details.items() if one is not None)
            judge = f"{name}@{told}" if told else name
            names[key] = judge
    return names


def _version_number(version: str | int | None) -> int | None:
    """Return the version of an evaluator where it is a whole number, also `v2`; None for any other."""
    written = re.fullmatch(r"v?(\d{1,9})", str(version), re.ASCII | re.IGNORECASE)
    return int(written[1]) if written else None


def _question_ids(assessments: Sequence[Assessment], where: str) -> list[str]:
    """Return the id of each answer: its own, else that of its question's text, else a number."""
    ids: list[str] = []
    n_lost = 0
    for one in assessments:
        name = one.subject or (question_key(one.question) if one.question else None)
        name = name or next(iter(one.ids.values()), None)
        if name is None:
            n_lost += 1
            name = f"unplaced-{n_lost}"
        ids.append(name if one.part is None else f"{name}#{one.part}")
    if n_lost:
        LOG.warning(
            "%s: %s %s no answer: neither a trace nor a row nor a question. No label can be for %s.",
            where,
            plural(n_lost, "verdict"),
            "names" if n_lost == 1 else "name",
            "it" if n_lost == 1 else "them",
        )
    return ids


def _scales(judges: Sequence[str], outcomes: Sequence[dict[str, Any]]) -> dict[str, Scale]:
    """Return the scale of each judge whose scored verdicts all have the same one and lie on it."""
    found: dict[str, set[Scale | None]] = {}
    span: dict[str, tuple[float, float]] = {}
    for judge, outcome in zip(judges, outcomes, strict=True):
        scale = outcome.pop("scale", None)
        if outcome["status"] != "scored":
            continue
        found.setdefault(judge, set()).add(scale)
        low, high = span.get(judge, (math.inf, -math.inf))
        span[judge] = min(low, outcome["score"]), max(high, outcome["score"])
    return {
        judge: scale
        for judge, scales in found.items()
        if len(scales) == 1
        and (scale := next(iter(scales))) is not None
        and scale[0] <= span[judge][0]
        and span[judge][1] <= scale[1]
    }
