"""A study of languages: what languages.json holds, and its report."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from ragstone.features.bench.languages._values import (
    ALL,
    OWN,
    AnsweringCost,
    AxisVerdict,
    IndexAnswer,
    LanguageCell,
    LanguageOverlap,
    LanguageVerdict,
    StatementCounts,
    WrongAnswer,
)
from ragstone.features.compare import overlap_table
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Made,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    Row,
    SurfacePart,
    Table,
    Tone,
    estimated,
    table_of,
)
from ragstone.kernel.document.charts import Dots, dot
from ragstone.kernel.document.numbers import count, interval, number, signed, signed_interval, usd
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.runs.wording import asked_line, made_of
from ragstone.kernel.tables.shown import Displayed

STUDY = "languages.json"
NOTHING_SCORED = "No answer could be scored."
TONES: dict[str, Tone] = {"better": "best", "worse": "open", "cannot tell": "muted"}
MATRIX = (
    "Rows: language of the questions. Columns: language of the documents in the index. A copy of the right "
    "document in another language counts as right. Framed: the question's own language."
)
SCORED = (
    "A true/false question counts as right if the answer means the same as the reference, in any words. "
    "Other questions are judged by containment."
)


STATEMENTS = (
    "True, false, neither: what the answers say. Accuracy: the share that says the same as the reference; "
    "neither is wrong."
)
AXES = (
    "Each question counts once, with its mean over both indexes and everything else that the study combines "
    "these with. Accuracy: the share of its answers that are right."
)


class FailedRetriever(msgspec.Struct, frozen=True, kw_only=True):
    """A retriever without numbers, and why."""

    retriever: str
    reason: str


class StudySummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A study of languages in numbers.

    langs: of the indexes. documents, questions: language -> how many. cells: retrieval, of each retriever
    from each index. verdicts: all languages together against the own one, by MRR. accuracy: the same
    verdicts by right answers, where a model answered; else `unanswered` says why there are none. axes: each
    further similarity, prompt and temperature against the first. overlaps: which of the two indexes' answers
    are wrong. costs: of the answers. statements: how many were called true, false or neither. wrong: the
    first questions with a wrong answer; wrong_answers.jsonl holds all n_wrong of them.
    """

    name: str
    version: str
    langs: list[str]
    k: int
    documents: dict[str, int]
    questions: dict[str, int]
    models: dict[str, str]
    cells: list[LanguageCell]
    verdicts: list[LanguageVerdict]
    failed: list[FailedRetriever]
    accuracy: list[LanguageVerdict]
    axes: list[AxisVerdict]
    overlaps: list[LanguageOverlap]
    costs: list[AnsweringCost]
    wrong: list[WrongAnswer]
    n_wrong: int
    unanswered: str | None
    calls: Calls
    notes: list[str]
    statements: list[StatementCounts] = []


def read_study(folder: Path) -> StudySummary:
    """Return what languages.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / STUDY, StudySummary, "study", "ragstone bench languages")


def study_document(study: StudySummary) -> ReportDocument:
    """Return the report of a study: the verdicts on retrieval and on answers, the matrices, wrong answers."""
    about = f"documents: {_by_lang(study.documents)} · questions: {_by_lang(study.questions)}"
    return ReportDocument(
        title=study.name,
        kind="study of languages",
        about=f"{about} · first {study.k} chunks",
        version=study.version,
        blocks=[
            Heading("Does adding translations of the documents improve retrieval?"),
            *_outcomes(study.verdicts, "MRR"),
            Heading("And the answers?"),
            *_outcomes(study.accuracy, "accuracy"),
            *([] if study.accuracy else [Paragraph(study.unanswered or NOTHING_SCORED, prose=True)]),
            Notes(
                items=[
                    *(f"{lost.retriever} was not measured: {lost.reason}" for lost in study.failed),
                    *study.notes,
                ]
            ),
            Heading("All languages against the question's own: MRR", anchor="verdict"),
            *_verdicts(study.verdicts, "MRR", "Verdicts on retrieval"),
            *_accuracy(study),
            *_axes(study.axes),
            Heading("Every language of questions in every index", anchor="matrix"),
            Paragraph(MATRIX, tone="lead", where="page"),
            *(
                _matrix(study, retriever)
                for retriever in dict.fromkeys(cell.retriever for cell in study.cells)
            ),
            *_wrong(study),
            *_dots(study),
        ],
        skip=("verdict", "verdict"),
        made=made_of(study.models, study.calls),
        source=STUDY,
        last=asked_line(study.calls),
    )


def _by_lang(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{lang} {count(n)}" for lang, n in counts.items())


def _outcomes(verdicts: Sequence[LanguageVerdict], what: str) -> list[Block]:
    return [Paragraph(sentence, tone="outcome") for sentence in answers_of(verdicts, what)]


def _accuracy(study: StudySummary) -> list[Block]:
    if not study.accuracy:
        return []
    return [
        Heading("All languages against the question's own: right answers", anchor="accuracy"),
        Paragraph(SCORED, tone="lead", where="page"),
        *_verdicts(study.accuracy, "right", "Verdicts on answers"),
        Pairs(
            [(f"{cost.arm}, {cost.index}", cost_text(cost)) for cost in study.costs],
            cautions=sum(bool(cost.n_unscored) for cost in study.costs),
        ),
        *_statements(study.statements),
    ]


def _statements(counts: Sequence[StatementCounts]) -> list[Block]:
    """Return how many statements were called true, false or neither; nothing where none was asked."""
    if not counts:
        return []
    columns: list[Made[StatementCounts]] = [
        (Column("Retriever", text=True, short=""), lambda row: row.arm),
        (Column("Statements in", text=True, short="statements"), lambda row: row.lang),
        (Column("Index", text=True, short="index"), lambda row: row.index),
        (Column("True", short="true"), lambda row: count(row.n_true)),
        (Column("False", short="false"), lambda row: count(row.n_false)),
        (Column("Neither", short="neither"), lambda row: count(row.n_neither)),
        (Column("Accuracy", short="accuracy"), lambda row: number(row.n_right / row.n)),
        ("n", lambda row: count(row.n)),
    ]
    return [
        Heading("What the answers say of statements", anchor="statements"),
        Paragraph(STATEMENTS, tone="lead"),
        table_of("Statements called true, false or neither", counts, columns),
    ]


def _axes(verdicts: Sequence[AxisVerdict]) -> list[Block]:
    """Return each further similarity, prompt, temperature against the first; nothing without several."""
    if not verdicts:
        return []
    columns: list[Made[AxisVerdict]] = [
        (Column("Against the first", text=True, short=""), lambda verdict: f"{verdict.axis} {verdict.value}"),
        (Column("First", text=True, short="first"), lambda verdict: verdict.against),
        (Column("By", text=True, short="by"), lambda verdict: verdict.comparison.measure),
        (Column("First: mean", short="first mean"), lambda verdict: estimated(verdict.baseline)),
        (Column("Mean", short="mean"), lambda verdict: estimated(verdict.mean)),
        *_compared("Verdict", ""),
    ]
    return [
        Heading("Similarities, prompts and temperatures", anchor="axes"),
        Paragraph(f"{AXES} {family(verdicts)}", tone="lead"),
        table_of("Verdicts on similarities, prompts and temperatures", verdicts, columns),
    ]


def _compared(verdict: str, short: str) -> list[Made[LanguageVerdict | AxisVerdict]]:
    """Return the columns of paired comparisons. verdict: the head of what they say."""
    return [
        (Column("Difference", short="difference"), difference),
        (
            Column(verdict, text=True, short=short),
            lambda row: Cell(row.comparison.verdict, tone=TONES[row.comparison.verdict]),
        ),
        (Column("p, corrected", short="p"), probability),
        ("n", lambda row: count(row.comparison.n)),
    ]


def _verdicts(verdicts: Sequence[LanguageVerdict], what: str, label: str) -> list[Block]:
    columns: list[Made[LanguageVerdict]] = [
        (Column("Retriever", text=True, short=""), lambda verdict: verdict.arm),
        (Column("Questions in", text=True, short="questions"), lambda verdict: verdict.lang),
        (Column(f"{OWN}: {what}", short=f"own {what}"), lambda verdict: estimated(verdict.own)),
        (Column(f"{ALL}: {what}", short=f"all {what}"), lambda verdict: estimated(verdict.together)),
        *_compared(f"{ALL} against {OWN}", "all against own"),
    ]
    basis = f"{family(verdicts)} “Cannot tell” is not “equal”."
    return [Paragraph(basis, tone="lead"), table_of(label, verdicts, columns)]


def _matrix(study: StudySummary, retriever: str) -> Table:
    """Return the measures of a retriever, of each language of questions in each index."""
    cells = {(cell.lang, cell.index): cell for cell in study.cells if cell.retriever == retriever}
    indexes = list(dict.fromkeys(index for _, index in cells))
    langs = dict.fromkeys(cell.lang for cell in study.cells if cell.n_questions)
    measures = dict.fromkeys(name for cell in cells.values() for name in cell.measures)
    rows: list[Row] = []
    for lang in langs:
        n = count(cells[lang, indexes[0]].n_questions)
        for name in measures:
            heats = [_heat(cells[lang, index], name) for index in indexes]
            rows.append([lang, Cell(name, tone="muted"), *heats, n])
    heads = [Column("Questions in", text=True, short=""), Column("Measure", text=True, short="")]
    across = [Column(index) for index in indexes]
    columns = [*heads, *across, Column("n")]
    return Table(label=f"{retriever}: matrix", caption=retriever, columns=columns, rows=rows, kind="heat")


def _heat(cell: LanguageCell, measure: str) -> Cell:
    estimate, own = cell.measures[measure], cell.index == cell.lang
    absent = f"; {count(cell.n_absent)} without a copy" if cell.n_absent else ""
    heat = min(5, max(0, int(estimate.value * 6)))
    beside = interval(estimate) + absent
    return Cell(number(estimate.value), beside, "strong" if own else "", heat=heat, framed=own)


def _wrong(study: StudySummary) -> list[Block]:
    """Return which of the two indexes' answers are wrong, and the first of these questions, side by side."""
    if not study.accuracy:
        return []
    n = count(study.n_wrong)
    cut = f"The first {len(study.wrong)} of {n}; wrong_answers.jsonl has them all."
    first = cut if study.n_wrong > len(study.wrong) else f"All {n}."
    marked = "Both answers, with the documents that each was made from; copies of the right one have a ✓."
    whole = [row for row in study.overlaps if row.lang == ALL] or study.overlaps
    total = f"{plural(study.n_wrong, 'question')} with a wrong answer, in wrong_answers.jsonl."
    return [
        Heading("Errors of one index and of both", anchor="errors"),
        SurfacePart([_overlaps(whole)], where="terminal"),
        SurfacePart([_overlaps(study.overlaps)], where="page"),
        Paragraph(total, where="terminal"),
        Heading("Wrong answers", anchor="wrong", where="page"),
        Paragraph(f"{first} {marked}" if study.n_wrong else "None.", tone="lead", where="page"),
        *(SurfacePart(_wrong_question(row), kind="differing", where="page") for row in study.wrong),
    ]


def _overlaps(overlaps: Sequence[LanguageOverlap]) -> Table:
    named = ((row.arm if row.lang == ALL else f"{row.arm}, {row.lang}", row.overlap) for row in overlaps)
    return overlap_table(named, sides=("own", "all"))


def _wrong_question(question: WrongAnswer) -> list[Block]:
    sides = {OWN: question.own, ALL: question.together}
    wrong = [name for name, side in sides.items() if side.right is False]
    where_wrong = f"wrong from {'both' if len(wrong) == 2 else wrong[0]}"
    where = " · ".join(
        [question.question_id, question.lang or "no language", question.kind, question.arm, where_wrong]
    )
    columns: list[Made[int]] = [
        ("", lambda row: str(row) if row else "Answer"),
        *((Column(name, text=True), partial(_side, side)) for name, side in sides.items()),
    ]
    places = range(1 + max(len(side.documents) for side in sides.values()))
    return [
        Heading(question.question, level=3),
        Paragraph(where, tone="muted"),
        Paragraph(f"Reference: {' / '.join(question.reference)}", tone="muted"),
        table_of(f"Answers and documents of {question.question_id}", places, columns, kind=""),
    ]


def _side(side: IndexAnswer, row: int) -> Cell | str:
    """Return what stands beside a place: the answer at 0, then the documents."""
    if not row:
        right = {True: "right", False: "wrong", None: "not scored"}[side.right]
        return Cell(side.answer or "(empty)", right)
    document = next((each for each in side.documents if each.place == row), None)
    return (
        Cell(f"{document.document_id}{' ✓' if document.copy else ''}", document.lang or "")
        if document
        else ""
    )


def _dots(study: StudySummary) -> list[Block]:
    """Return retrieval in the own language and in all together, of each retriever and language."""
    dots = []
    for verdict in study.verdicts:
        name = f"{verdict.retriever}, {verdict.lang}"
        dots += [dot(name, verdict.own, "own language"), dot(name, verdict.together, "all languages")]
    return [Dots(title="MRR by the language of the index", dots=dots)] if dots else []


def difference(verdict: LanguageVerdict | AxisVerdict) -> str:
    """Return how much better the first is, such as all languages together, with the interval."""
    there = verdict.comparison.difference
    return signed(there.value) + (f" ({signed_interval(there)})" if there.low is not None else "")


def probability(verdict: LanguageVerdict | AxisVerdict) -> str:
    """Return the corrected p-value."""
    p = verdict.comparison.p_holm
    return "below 0.001" if p < 0.001 else f"{p:.3f}"


def answers_of(verdicts: Sequence[LanguageVerdict], what: str) -> list[str]:
    """Return what verdicts say on whether translations help, one sentence for each retriever, or arm."""
    sentences = []
    for arm in dict.fromkeys(row.arm for row in verdicts):
        mine = [row for row in verdicts if row.arm == arm]
        overall = next((row for row in mine if row.lang == ALL), mine[0])
        single = [row for row in mine if row.lang != ALL] if len(mine) > 1 else []
        verdict = overall.comparison.verdict
        word = {"better": "better", "worse": "worse", "cannot tell": "not distinguishable"}[verdict]
        beside = [
            f"{name} in {', '.join(langs)}"
            for name in ("better", "worse", "cannot tell")
            if (langs := [row.lang for row in single if row.comparison.verdict == name])
        ]
        if len(beside) == 1:
            beside = ["the same in each language"] if single[0].comparison.verdict == verdict else beside
        sentences.append(
            f"{arm}: with all languages in one index {what} is {word} "
            f"({number(overall.together.value)}, own language alone {number(overall.own.value)}; "
            f"{plural(overall.comparison.n, 'question')})" + "".join(f"; {part}" for part in beside) + "."
        )
    return sentences


def family(verdicts: Sequence[LanguageVerdict | AxisVerdict]) -> str:
    """Return what the verdicts rest on."""
    if not verdicts:
        return ""
    tests = " and ".join(dict.fromkeys(verdict.comparison.test for verdict in verdicts))
    return (
        f"Paired on the same questions ({tests} test); Holm's correction over "
        f"{plural(len(verdicts), 'comparison')}."
    )


def cost_text(cost: AnsweringCost) -> str:
    """Return how many answers, and what they cost."""
    beside = [
        f"{count(cost.n_unscored)} not scored" if cost.n_unscored else "",
        f"{count(cost.n_neither)} say neither true nor false" if cost.n_neither else "",
        "cost unknown" if cost.usd is None else usd(cost.usd),
    ]
    return f"{plural(cost.n_answers, 'answer')}, {', '.join(part for part in beside if part)}"
