"""Gaps in what annotators are told: rows on which grades differ for the same stated reason.

A word of the reasons names a gap where it is more frequent among rows on which grades differ than chance
explains, twice: among all reasons (a person's with people's, the judge's with its own), and among those with
the same grade, because a judge that is lenient makes "wrong" frequent among its errors and says nothing of
the instructions. A longer reason holds more words, so what counts is how far a word is more frequent than in
reasons of that length. Of a question, one reason of each side counts where grades differ, and one where they
agree: reasons for answers to one question share its words. In the first test the largest of all words'
statistics is held against its distribution when the rows that differ are drawn anew (Westfall and Young 1993,
maxT); in the second each word that passed, with Bonferroni's correction. So at most one report in 20 names a
gap where there is none.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.agreement.comparison import (
    JudgeId,
    MeasuredJudge,
    by_judge,
    measure,
    threshold_of,
)
from ragstone.kernel.agreement.pairing import Human, Key, human_scores, pair
from ragstone.kernel.agreement.policies import labels_under
from ragstone.kernel.corpus.tokens import function_words, search_terms
from ragstone.kernel.errors import takes_rows
from ragstone.kernel.records import NO_MODEL, Judgement, Label
from ragstone.kernel.statistics import Floats

DRAWS = 2000
LEVELS = (0.025, 0.01)  # of the two tests; together fewer than 5 % of reports without a gap name one
FEWEST_ROWS = 3
FEWEST_LETTERS = 3
STEM = 5  # letters, see search_terms
MOST_COMMON = 0.5  # of all reasons; a word in more of them says nothing of any
SAME_ROWS = 0.5  # of the rows of two words, shared, from which on they are one gap
MOST_WORDS = 4
APART = 0.25  # of the scale, from which on scores with too many values for grades differ

Who = Literal["person", "judge"]


class GradeReason(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wrote of an answer beside the grade."""

    who: Who
    grade: float
    text: str


class GapRow(msgspec.Struct, frozen=True, kw_only=True):
    """An answer on which grades differ. grades: people's. judge: its score; None where it gave none."""

    question_id: str
    system: str
    grades: list[float]
    judge: float | None
    reasons: list[GradeReason]


class SpecGap(msgspec.Struct, frozen=True, kw_only=True):
    """Rows on which grades differ, and whose reasons share words.

    words: the most telling first. n_differ, n_agree: of the reasons that are compared, those with one of the
    words, where grades differ and where they agree. p: how often reasons without any gap have a word that is
    as much more frequent where grades differ as the best of these, corrected for all words.
    """

    words: list[str]
    n_differ: int
    n_agree: int
    p: float
    rows: list[GapRow]


class SpecGaps(msgspec.Struct, frozen=True, kw_only=True):
    """The gaps that the reasons of one judge and its annotators show, the most telling first.

    judge, model: None where people's labels were compared alone. n_rows: labelled answers. n_differ: those on
    which people differ with each other or with the judge; n_silent: those of them without any reason.
    n_compared_differ, n_compared_agree: reasons that are compared.
    """

    metric: str
    judge: str | None
    model: str | None
    n_rows: int
    n_differ: int
    n_silent: int
    n_compared_differ: int
    n_compared_agree: int
    gaps: list[SpecGap]


class _LabelledRow(msgspec.Struct, frozen=True, kw_only=True):
    key: Key
    cluster: str
    differs: bool
    row: GapRow


@takes_rows(judgements=Judgement, labels=Label)
def spec_gaps(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    metric: str | None = None,
    threshold: float | Mapping[str, float] | None = None,
    mapping: Mapping[float, float] | None = None,
    policy: str | None = None,
    seed: int = 0,
) -> list[SpecGaps]:
    """Return for each metric the gaps that the reasons of its labels and of one judge show.

    The judge is the first that asks a model, else the first; its reasons and those of the annotators are
    read. Grades differ where annotators of an answer gave different ones, or the judge another one than
    people came to; threshold and mapping are understood as in report_cards. Without judgements of a metric
    people's labels are compared alone. Raises DataError as report_cards does for labels of two policies.
    """
    rows = labels_under(labels, policy)
    judges = by_judge(row for row in judgements if metric in (None, row.metric))
    metrics = dict.fromkeys([judge.metric for judge in judges] or [row.metric or "" for row in rows])
    reports = []
    for name in metrics if metric is None else [metric]:
        own = [judge for judge in judges if judge.metric == name]
        judge = next((judge for judge in own if judge.model != NO_MODEL), own[0] if own else None)
        humans = human_scores(rows, name, mapping)
        labelled = _labelled(
            humans, judges.get(judge, []) if judge else [], judge, threshold, mapped=mapping is not None
        )
        reports += [_report(name, judge, labelled, seed)] if labelled else []
    return reports


def gap_rows(report: SpecGaps, n: int, seed: int = 0) -> list[GapRow]:
    """Return up to n rows of the gaps, the most telling gap's first, in random order."""
    rng = np.random.default_rng(seed)
    rows: dict[tuple[str, str], GapRow] = {}
    for gap in report.gaps:
        for at in rng.permutation(len(gap.rows)).tolist():
            rows.setdefault((gap.rows[at].question_id, gap.rows[at].system), gap.rows[at])
    chosen = [*rows.values()][:n]
    return [chosen[at] for at in rng.permutation(len(chosen)).tolist()]


def _labelled(
    humans: Mapping[Key, Human],
    judged: Sequence[Judgement],
    judge: JudgeId | None,
    threshold: float | Mapping[str, float] | None,
    *,
    mapped: bool,
) -> list[_LabelledRow]:
    """Return the labelled answers with their reasons, and whether grades differ on them."""
    apart: set[Key] = set()
    rows: dict[Key, Judgement] = {}
    if judge is not None:
        measured = measure(
            judge, judged, humans, mapped=mapped, threshold=threshold_of(judge, threshold, judged)
        )
        apart = _apart(measured)
        paired = pair(judged, humans)
        rows = dict(zip(paired.keys, paired.rows, strict=True))
        rows |= {(row.question_id, row.system): row for row, _ in paired.tied}
    return [
        _LabelledRow(
            key=key,
            cluster=human.cluster,
            differs=len(set(human.grades)) > 1 or key in apart,
            row=_row(key, human, rows.get(key)),
        )
        for key, human in humans.items()
    ]


def _apart(judge: MeasuredJudge) -> set[Key]:
    """Return the answers on which the judge's grade is another one than people's."""
    comparison = judge.comparison
    if comparison is None or not (comparison.categories or comparison.same_unit):
        return set()
    width = 0.0
    if not comparison.categories and judge.scale:
        width = APART * (judge.scale[1] - judge.scale[0])
    differ = np.abs(comparison.human - comparison.judge) > width
    return {key for key, is_apart in zip(judge.pairs.keys, differ.tolist(), strict=True) if is_apart}


def _row(key: Key, human: Human, judged: Judgement | None) -> GapRow:
    reasons = [
        GradeReason(who="person", grade=label.score, text=label.rationale.strip())
        for label in human.labels
        if label.rationale and label.rationale.strip()
    ]
    if judged is not None and judged.score is not None and judged.rationale and judged.rationale.strip():
        reasons.append(GradeReason(who="judge", grade=judged.score, text=judged.rationale.strip()))
    return GapRow(
        question_id=key[0],
        system=key[1],
        grades=human.grades,
        judge=judged.score if judged else None,
        reasons=reasons,
    )


def _report(metric: str, judge: JudgeId | None, labelled: Sequence[_LabelledRow], seed: int) -> SpecGaps:
    differing = [row for row in labelled if row.differs]
    units = _units(labelled, np.random.default_rng(seed))
    flags = np.array([row.differs for row, _ in units], dtype=bool)
    return SpecGaps(
        metric=metric,
        judge=judge.judge if judge else None,
        model=judge.model if judge else None,
        n_rows=len(labelled),
        n_differ=len(differing),
        n_silent=sum(not row.row.reasons for row in differing),
        n_compared_differ=int(flags.sum()),
        n_compared_agree=int((~flags).sum()),
        gaps=_gaps(units, flags, differing, np.random.default_rng(seed)),
    )


def _units(
    labelled: Sequence[_LabelledRow], rng: np.random.Generator
) -> list[tuple[_LabelledRow, GradeReason]]:
    """Return the reasons that are compared: of a question one person's and one judge's, drawn at random, of
    the answers on which grades differ, and as many of the others."""
    of_question: dict[tuple[str, bool, Who], list[tuple[_LabelledRow, GradeReason]]] = {}
    for row in labelled:
        for reason in row.row.reasons:
            of_question.setdefault((row.cluster, row.differs, reason.who), []).append((row, reason))
    return [same[int(rng.integers(len(same)))] for same in of_question.values()]


def _terms(text: str) -> dict[str, str]:
    """Return what inflected forms of a word share -> the word, for the words that say something.

    In scripts without spaces it is pairs of characters.
    """
    terms: dict[str, str] = {}
    listed = search_terms(text)
    says_nothing = function_words()
    word = ""
    for term, following in zip(listed, [*listed[1:], ""], strict=True):
        word = word if term.endswith("*") else term
        if word in says_nothing or word.isdigit() or following == f"{term[:STEM]}*":
            continue
        if len(word) >= (FEWEST_LETTERS if word.isascii() else 2):
            terms.setdefault(term, word)
    return terms


def _gaps(
    units: Sequence[tuple[_LabelledRow, GradeReason]],
    flags: np.ndarray,
    differing: Sequence[_LabelledRow],
    rng: np.random.Generator,
) -> list[SpecGap]:
    if flags.sum() < FEWEST_ROWS or flags.all():
        return []
    reasons = [reason for _, reason in units]
    terms_of = [_terms(reason.text) for reason in reasons]
    names, holds = _columns(reasons, terms_of)
    if not names:
        return []
    lengths = np.array([len(terms) for terms in terms_of], dtype=np.float32)
    excess = holds - np.outer(lengths, holds.sum(axis=0) / lengths.sum())
    z, drawn = _telling(excess, lengths, flags, _numbers([reason.who for reason in reasons]), rng)
    frequent = _share(drawn.max(axis=1)[:, None] >= z)
    passed = np.flatnonzero(frequent <= LEVELS[0])
    if not passed.size:
        return []
    grades = _numbers([(reason.who, reason.grade) for reason in reasons])
    z_of_grade, drawn = _telling(excess[:, passed], lengths, flags, grades, rng)
    in_grade = _share(drawn >= z_of_grade)
    p_values: dict[str, float] = {}
    for rank in np.argsort(-z[passed], kind="stable").tolist():
        if in_grade[rank] <= LEVELS[1] / passed.size:
            p_values.setdefault(names[passed[rank]], float(frequent[passed[rank]]))
    telling = [*p_values]
    rows_of = {
        term: {row.key for row in differing if any(term in _terms(r.text) for r in row.row.reasons)}
        for term in telling
    }
    by_key = {row.key: row for row in differing}
    gaps = []
    for group in _groups(telling, rows_of):
        rows = [by_key[key] for key in by_key if any(key in rows_of[term] for term in group)]
        if len(rows) < FEWEST_ROWS:
            continue
        held = np.array([any(term in terms for term in group) for terms in terms_of])
        gaps.append(
            SpecGap(
                words=[_word(term, [row.row for row in rows]) for term in group[:MOST_WORDS]],
                n_differ=int((held & flags).sum()),
                n_agree=int((held & ~flags).sum()),
                p=min(p_values[term] for term in group),
                rows=[row.row for row in rows],
            )
        )
    return gaps


def _columns(
    reasons: Sequence[GradeReason], terms_of: Sequence[Mapping[str, str]]
) -> tuple[list[str], np.ndarray]:
    """Return the word of each column, and which reasons hold it; people's and the judge's have their own."""
    n_reasons = Counter(reason.who for reason in reasons)
    counts = Counter(
        (reason.who, term) for reason, terms in zip(reasons, terms_of, strict=True) for term in terms
    )
    columns = [key for key, n in counts.items() if FEWEST_ROWS <= n <= MOST_COMMON * n_reasons[key[0]]]
    column = {key: at for at, key in enumerate(columns)}
    holds = np.zeros((len(reasons), len(columns)), dtype=np.float32)
    for at, (reason, terms) in enumerate(zip(reasons, terms_of, strict=True)):
        holds[at, [column[reason.who, term] for term in terms if (reason.who, term) in column]] = 1
    return [term for _, term in columns], holds


def _numbers(kinds: Sequence[Hashable]) -> np.ndarray:
    numbers = {kind: at for at, kind in enumerate(dict.fromkeys(kinds))}
    return np.array([numbers[kind] for kind in kinds])


def _share(reached: np.ndarray) -> Floats:
    """Return the share of draws that reach each word's statistic, the data themselves counted as one."""
    return np.asarray((1 + reached.sum(axis=0)) / (DRAWS + 1))


def _telling(
    excess: np.ndarray,
    lengths: np.ndarray,
    flags: np.ndarray,
    strata: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return each word's statistic, (words,), and those of draws of the rows that differ, (draws, words).

    It is Mantel and Haenszel's (1959) with continuity correction: how far the word is more frequent where
    grades differ, over the strata, in standard deviations. excess: (reasons, words), how often a reason holds
    the word beyond what its length lets one expect. lengths: (reasons,), in words.
    """
    order = np.argsort(strata, kind="stable")
    excess, lengths, flags, strata = excess[order], lengths[order], flags[order], strata[order]
    expected, variance, own_variance = (np.zeros(excess.shape[1]) for _ in range(3))
    starts = np.flatnonzero(np.r_[True, strata[1:] != strata[:-1]])
    drawn = np.zeros((DRAWS, len(flags)), dtype=np.float32)
    for start, end in zip(starts, [*starts[1:], len(flags)], strict=True):
        size, marked, own = end - start, int(flags[start:end].sum()), excess[start:end]
        expected += own.sum(axis=0) * marked / size
        if 0 < marked < size:
            of_draws = own.var(axis=0) * marked * (size - marked) / (size - 1)
            # A word varies as a reason is long: more than in the draws where those that differ are the long.
            apart = (flags[start:end] - marked / size) ** 2
            wider = float(apart @ lengths[start:end]) / float(apart.mean() * lengths[start:end].sum())
            variance += of_draws
            own_variance += of_draws * max(1.0, wider)
        chances = rng.random((DRAWS, size))
        if marked:
            drawn[:, start:end] = chances <= np.partition(chances, marked - 1)[:, marked - 1 : marked]
    spread, own_spread = (np.sqrt(np.where(of > 0, of, np.inf)) for of in (variance, own_variance))
    z = (flags.astype(np.float32) @ excess - expected - 0.5) / own_spread
    return np.asarray(z), np.asarray((drawn @ excess - expected - 0.5) / spread)


def _groups(telling: Sequence[str], rows_of: Mapping[str, set[Key]]) -> list[list[str]]:
    """Return words whose rows are mostly the same together; the most telling word of each group first."""
    groups: list[list[str]] = []
    for term in telling:
        rows = rows_of[term]
        home = next(
            (
                group
                for group in groups
                if rows
                and len(rows & rows_of[group[0]]) >= SAME_ROWS * min(len(rows), len(rows_of[group[0]]))
            ),
            None,
        )
        if home is None:
            groups.append([term])
        else:
            home.append(term)
    return groups


def _word(term: str, rows: Sequence[GapRow]) -> str:
    """Return the most frequent form of a word."""
    forms = Counter(
        terms[term] for row in rows for reason in row.reasons if term in (terms := _terms(reason.text))
    )
    return forms.most_common(1)[0][0]
