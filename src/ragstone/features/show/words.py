"""A row -> what a terminal says of it: verdicts, answers, reasons; on request the rest."""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Listing,
    Pairs,
    Paragraph,
    ReportDocument,
    Table,
)
from ragstone.kernel.document.numbers import number, one_line, usd
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.repeated import lowest_is_best
from ragstone.kernel.records import STATUS_WORDS
from ragstone.kernel.runs.embedded import StepShown
from ragstone.kernel.runs.joining import OpenedRows, RowVerdict
from ragstone.kernel.version import __version__

Shortening = Callable[[str], str]

SHORT = 150  # characters of a text that a screen shows
A_LINE = 96  # of a list, on a screen
SHORT_WORDS = 40
MOST = 3  # systems and references that a screen shows
MOST_REASONS = 2
MOST_JUDGES = 5
LONGEST_NAME = 28  # of a system, on a screen


def row_document(row: OpenedRows, run: Path, *, whole: bool = False) -> ReportDocument:
    """Return a row as a document. whole: with all texts as they are, contexts, conversations and calls."""
    most = None if whole else MOST
    names = _names(row, whole=whole)
    long: Shortening = str if whole else lambda text: one_line(text, SHORT)
    tags = [f"{name}: {value}" for name, value in (row.line.tags or {}).items()]
    about = " · ".join([f"{row.line.id} in {run.name}", *([row.line.lang] if row.line.lang else []), *tags])
    blocks: list[Block] = [
        Paragraph(about if whole else one_line(about, SHORT), tone="muted"),
        *_verdict_table(row, names, most),
    ]
    causes = [
        f"{each.system}: {each.cause} ({each.component}). {each.because}" for each in row.detail.causes or ()
    ]
    if causes:
        blocks += [Heading("Why points were lost", level=3), Listing([long(each) for each in causes[:most]])]
    blocks.append(Heading("Answers", level=3))
    for each in row.answers[:most]:
        answer_text = long(each.answer) or "(empty)"
        answer_text = f"the application failed: {long(each.error)}" if each.error else answer_text
        blocks.append(Paragraph(f"{names[each.system]}: {answer_text}", tone="warn" if each.error else ""))
    blocks += [] if row.answers else [Paragraph("None yet.", tone="muted")]
    blocks += _differences(row, names, most)
    references = [long(text) for text in row.references[:most]]
    none = (
        "none: the documents cannot answer this question" if row.detail.answerable is False else "none given"
    )
    reference = f"Reference: {' / '.join(references) or none}"
    blocks.append(Paragraph(reference if whole else one_line(reference, A_LINE), tone="strong"))
    blocks += _reasons(row, names, whole=whole)
    blocks += _people(row, names, whole=whole)
    blocks += _rest(row) if whole else []
    dashes = "-- " if row.line.id.startswith("-") else ""
    named = f"{shlex.quote(str(run))} {dashes}{shlex.quote(row.line.id)}"
    last = "" if whole else f"All of it: ragstone show --all {named}"
    return ReportDocument(
        title=row.question if whole else one_line(row.question, SHORT),
        kind="row of a run",
        about="",
        version=__version__,
        blocks=blocks,
        last=last,
    )


def _names(row: OpenedRows, *, whole: bool) -> dict[str, str]:
    """Return what each system is called: on a screen without its middle, if the names still differ.

    Names of runs and models differ at both ends.
    """
    answered = [answer.system for answer in row.answers]
    systems = list(dict.fromkeys([*answered, *(verdict.system for verdict in row.verdicts)]))
    half = LONGEST_NAME // 2
    short = {
        name: name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[1 - half :]}" for name in systems
    }
    is_told_apart = len(set(short.values())) == len(systems)
    return short if is_told_apart and not whole else {name: name for name in systems}


def _verdict_table(row: OpenedRows, names: Mapping[str, str], most: int | None) -> list[Block]:
    """Return a line a system: every judge's score, what people gave, seconds and money."""
    verdicts = row.verdicts
    judges = list(dict.fromkeys((each.judge, each.metric, each.model) for each in verdicts))
    n_more = 0 if most is None else len(judges) - MOST_JUDGES
    judges = judges[:MOST_JUDGES] if n_more > 0 else judges
    judged_by = [judge for judge, _, _ in judges]
    heads = [
        judge if judged_by.count(judge) == 1 else f"{judge} {metric} {model}"
        for judge, metric, model in judges
    ]
    scored = {(each.system, each.judge, each.metric, each.model): each for each in verdicts}
    answers = {answer.system: answer for answer in row.answers}
    rows: list[list[Cell | str]] = [
        [
            Cell(names[system], tone="strong"),
            *(_score(scored.get((system, *judge))) for judge in judges),
            ", ".join(number(label.score) for label in row.labels if label.system == system),
            ""
            if (spent := answers.get(system)) is None or spent.latency_s is None
            else number(spent.latency_s),
            "" if spent is None or spent.cost_usd is None else usd(spent.cost_usd),
        ]
        for system in [*names][:most]
    ]
    if not rows:
        return []
    columns = [
        Column("", text=True),
        *map(Column, heads),
        Column("people"),
        Column("seconds"),
        Column("cost"),
    ]
    used = [
        at for at in range(len(columns)) if at == 0 or any(line[at] not in ("", Cell("")) for line in rows)
    ]
    cells = [[line[at] for at in used] for line in rows]
    more = [Paragraph(f"{plural(n_more, 'judge')} more", tone="muted")] if n_more > 0 else []
    return [Table([columns[at] for at in used], cells, "Verdicts"), *more]


def _score(verdict: RowVerdict | None) -> Cell:
    if verdict is None:
        return Cell("")
    if verdict.score is None:
        return Cell(STATUS_WORDS.get(verdict.status, verdict.status), tone="warn")  # type: ignore[call-overload]
    if verdict.scale is None:
        return Cell(number(verdict.score))
    high = verdict.scale[1]
    of = f" of {high:g}" if high != 1 else ""
    return Cell(f"{number(verdict.score)}{of}", tone="warn" if _is_good(verdict) < 0.5 else "")


def _differences(row: OpenedRows, names: Mapping[str, str], most: int | None) -> list[Block]:
    """Return the words by which each answer differs from the one that it is compared with."""
    marked = row.differences
    if marked is None:
        return []
    lines = []
    for answer, spans in zip(row.answers, marked.spans, strict=True):
        if answer.system == marked.against or not answer.answer:
            continue
        differing = [f"“{answer.answer[start:end]}”" for start, end in spans]
        n_more = 0 if most is None else max(0, len(differing) - MOST)
        differing = differing if most is None else [one_line(each, SHORT_WORDS) for each in differing[:MOST]]
        sentence = (
            f"{', '.join(differing)}{f' and {n_more} more' if n_more else ''}" if differing else "nothing"
        )
        lines.append(f"Not in {names[marked.against]}, in {names[answer.system]}: {sentence}")
    cut_lines = lines if most is None else [one_line(line, A_LINE) for line in lines[:most]]
    return [Listing(cut_lines, tone="muted")]


def _reasons(row: OpenedRows, names: Mapping[str, str], *, whole: bool) -> list[Block]:
    lines = []
    for verdict in sorted(row.verdicts, key=_is_good):
        name = verdict.judge if verdict.judge == verdict.metric else f"{verdict.judge} ({verdict.metric})"
        of = f"{names[verdict.system]}, {name}"
        against = [each for each in verdict.verdicts if not each.supported]
        if verdict.reason:
            lines.append(f"{of}: {verdict.reason}")
        elif against and not whole:
            lines.append(f"{of}: no to {len(against)} of {len(verdict.verdicts)}: {against[0].statement}")
        if whole:
            lines += [
                f"{of}, statement {each.id}: {'yes' if each.supported else 'no'}: {each.statement}"
                f"{f' ({each.reason})' if each.reason else ''}"
                for each in verdict.verdicts
            ]
    cut_lines = lines if whole else [one_line(line, A_LINE) for line in lines[:MOST_REASONS]]
    return [Heading("Reasons, worst first", level=3), Listing(cut_lines)] if lines else []


def _is_good(verdict: RowVerdict) -> float:
    """Return the place of a score on its scale, from 0 at the bad end to 1; what has none comes first."""
    if verdict.score is None:
        return -1.0
    low, high = verdict.scale or (0.0, 1.0)
    if high <= low:
        return 1.0
    share = (verdict.score - low) / (high - low)
    return 1 - share if lowest_is_best(verdict.judge) else share


def _people(row: OpenedRows, names: Mapping[str, str], *, whole: bool) -> list[Block]:
    if not whole:
        counts = ((row.labels, "people's label"), (row.notes, "note"))
        counted = [plural(len(rows), noun) for rows, noun in counts if rows]
        more = len(names) - MOST
        counted = [*([f"{plural(more, 'system')} more"] if more > 0 else []), *counted]
        return [Paragraph(" · ".join(counted), tone="muted")] if counted else []
    labels = [
        f"{label.system}: {number(label.score)}{f' ({label.metric})' if label.metric else ''}"
        f"{f' by {label.annotator}' if label.annotator else ''}, {label.source}"
        f"{'' if label.has_text else ', matched by id and system alone'}"
        f"{f': {label.rationale}' if label.rationale else ''}"
        for label in row.labels
    ]
    notes = [
        f"{note.author}, {note.at[:10]}{f', on {note.system}' if note.system else ''}: {note.text}"
        f"{' '.join(f' #{tag}' for tag in note.tags)}"
        for note in row.notes
    ]
    blocks: list[Block] = [Heading("Labels by people", level=3), Listing(labels)] if labels else []
    return blocks + ([Heading("Notes", level=3), Listing(notes)] if notes else [])


def _rest(row: OpenedRows) -> list[Block]:
    """Return what only --all prints."""
    blocks: list[Block] = []
    for answer in row.answers:
        if answer.turns:
            turns = [
                Paragraph(
                    " ".join(
                        [f"{turn.place}. {turn.role}: {turn.content}".rstrip(), *map(_step, turn.steps or ())]
                    )
                )
                for turn in answer.turns
            ]
            blocks += [Heading(f"Conversation of {answer.system}", level=3), *turns]
        if answer.steps:
            blocks += [Heading(f"Steps of {answer.system}", level=3), Listing([*map(_step, answer.steps)])]
        if answer.contexts is not None:
            blocks.append(Heading(f"Contexts given to {answer.system}", level=3))
            for at, view in enumerate(answer.contexts, 1):
                passage = row.passage(view)
                name = passage.document or passage.chunk or ""
                is_relevant = " (relevant)" if view.relevant else ""
                blocks.append(
                    Paragraph(f"[{at}] {name}{is_relevant}: {passage.text or 'no text in the run'}")
                )
    for document, text in row.detail.evidence or ():
        blocks += [Heading(f"Where the answer is: {document}", level=3), Paragraph(text)]
    for call in row.calls:
        whose = ", ".join(call.judges) or f"answer of {' and '.join(call.systems)}"
        blocks.append(Heading(f"Call: {whose}, {call.model}", level=3))
        blocks += [Pairs([(message.role, message.content) for message in call.messages])]
    return blocks


def _step(step: StepShown) -> str:
    result = f"failed: {step.error}" if step.error else step.result or ""
    return f"{step.tool}({step.arguments or ''}){f' -> {result}' if result else ''}"
