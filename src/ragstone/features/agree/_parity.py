"""Does a judge score an answer alike in every language? The same question and answer, translated, paired."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.agreement.comparison import JudgeId, by_judge, threshold_of
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.corrected_mean import CorrectedMean
from ragstone.kernel.agreement.groups import UNTOLD
from ragstone.kernel.agreement.pairing import UNNAMED
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.statistics import MAX_GRADES, RESAMPLES, Estimate, mean_estimate
from ragstone.kernel.statistics.paired import holm, paired_tests
from ragstone.kernel.tables import Rows

FEW_QUESTIONS = 10
ALPHA = 0.05


class LanguageCopy(msgspec.Struct, frozen=True):
    """What a question is a copy of, and its language; None where nobody says."""

    parallel: str | None
    lang: str | None


Copies = Mapping[str, LanguageCopy]
"""Question id -> what it is a copy of."""


ParityVerdict = Literal["higher", "lower", "cannot tell"]


class LanguageParity(msgspec.Struct, frozen=True, kw_only=True):
    """One judge on the copies of answers in one language, beside those in `base`.

    n: pairs of copies that both have a score; n_questions: different questions among them, on which intervals
    rest. unscored: pairs of which one has none. unpaired: answers of this language without a copy in `base`;
    unpaired_base: those of `base` without one in this language. flips: share of pairs that got another
    grade; None for scores that are no grades and are not cut. difference: this language minus `base`. p: of
    its paired test (McNemar's, or sign-flip); p_holm: after Holm's correction over the `family` of languages
    of this judge; all three None without a pair. verdict: on this language's scores.
    """

    judge: str
    metric: str
    model: str
    prompt_version: int
    lang: str
    base: str
    n: int
    n_questions: int
    unscored: int
    unpaired: int
    unpaired_base: int
    flips: Estimate | None
    difference: Estimate | None
    p: float | None
    p_holm: float | None = None
    family: int = 0
    verdict: ParityVerdict = "cannot tell"


PairKey = tuple[str, str, str]  # what it is a copy of, its own id where that is nothing, system
ByLanguage = Mapping[str, Mapping[PairKey, Judgement]]


def language_parity(
    judgements: Iterable[Judgement],
    copies: Copies,
    *,
    base: str = "en",
    threshold: float | Mapping[str, float] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Rows[LanguageParity]:
    """Return a row for each judge and language but `base`, languages by name.

    threshold: the score from which on a judge says 1, one for all or judge -> its own. Judgements whose
    question has no language are in no row: see without_language. Raises DataError where fewer than two
    languages are told, where none of them is `base`, and for two copies in one language.
    """
    rows_of = by_judge(judgements)
    langs = {lang for rows in rows_of.values() for row in rows if (lang := _lang(row.question_id, copies))}
    if len(langs) < 2 or base not in langs:
        listed = ", ".join(sorted(langs)) or "none"
        raise DataError(
            f"the judged answers are in these languages: {listed}. A comparison needs {base!r} and another "
            "language. Give the rows a column `lang`, or name the language to compare with as --base."
        )
    parities: Rows[LanguageParity] = Rows((), LanguageParity)
    for judge, rows in rows_of.items():
        by_lang = _by_language(rows, copies)
        cut = threshold_of(judge, threshold, rows)
        made = [
            _row(judge, lang, by_lang, base, cut, seed=seed, resamples=resamples)
            for lang in sorted(by_lang)
            if lang != base
        ]
        parities += _with_holm(made)
    return parities


def _lang(question_id: str, copies: Copies) -> str | None:
    copy = copies.get(question_id)
    return copy.lang if copy else None


def without_language(judgements: Iterable[Judgement], copies: Copies) -> int:
    """Return how many judged answers say no language."""
    answers = {(row.question_id, row.system) for row in judgements}
    return sum(_lang(question_id, copies) is None for question_id, _ in answers)


def _by_language(rows: Iterable[Judgement], copies: Copies) -> ByLanguage:
    """Return language -> the judgements; those of copies of one answer have the same key."""
    rows_of: dict[str, dict[PairKey, Judgement]] = {}
    for row in rows:
        copy = copies.get(row.question_id)
        if copy is None or copy.lang is None:
            continue
        parallel = copy.parallel or ""
        key = (parallel, "" if parallel else row.question_id, row.system)
        first = rows_of.setdefault(copy.lang, {}).setdefault(key, row)
        if first is not row:
            raise DataError(
                f"questions {first.question_id!r} and {row.question_id!r}, system {row.system!r}: both are "
                f"the copy of {parallel!r} in {copy.lang!r}. Keep one, or give each its own key."
            )
    return rows_of


def _row(
    judge: JudgeId, lang: str, by_lang: ByLanguage, base: str, cut: float | None, *, seed: int, resamples: int
) -> LanguageParity:
    ours, theirs = by_lang[lang], by_lang.get(base, {})
    shared = [key for key in ours if key in theirs]
    both = [(key, ours[key].score, theirs[key].score) for key in shared]
    scored = [(key, mine, other) for key, mine, other in both if mine is not None and other is not None]
    values = np.array([(mine, other) for _, mine, other in scored], dtype=np.float64).reshape(-1, 2)
    if cut is not None:
        values = (values >= cut).astype(np.float64)
    clusters = [key[0] for key, _, _ in scored]
    [test] = paired_tests(values, [(0, 1)], clusters, alpha=ALPHA, seed=seed) if scored else [None]
    return LanguageParity(
        judge=judge.judge,
        metric=judge.metric,
        model=judge.model,
        prompt_version=judge.prompt_version,
        lang=lang,
        base=base,
        n=len(scored),
        n_questions=len(set(clusters)),
        unscored=len(both) - len(scored),
        unpaired=len(ours) - len(shared),
        unpaired_base=len(theirs) - len(shared),
        flips=mean_estimate(
            (values[:, 0] != values[:, 1]).astype(np.float64), clusters, seed=seed, resamples=resamples
        )
        if np.unique(values).size <= MAX_GRADES
        else None,
        difference=test.difference if test else None,
        p=test.p if test else None,
    )


def _with_holm(rows: Sequence[LanguageParity]) -> list[LanguageParity]:
    """Return the rows of one judge, their p-values corrected for all of its languages."""
    tested = [row.p for row in rows if row.p is not None]
    adjusted = iter(holm(tested).tolist())
    return [
        row
        if row.difference is None
        else msgspec.structs.replace(
            row,
            p_holm=(p_holm := next(adjusted)),
            family=len(tested),
            verdict="cannot tell"
            if p_holm > ALPHA or row.n_questions < FEW_QUESTIONS
            else "higher"
            if row.difference.value > 0
            else "lower",
        )
        for row in rows
    ]


def corrected_by_language(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    copies: Copies,
    *,
    mapping: Mapping[float, float] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    seed: int = 0,
) -> Rows[CorrectedMean]:
    """Return the corrected means of each system and language, which its name then ends with.

    See corrected_means; the labels of a language must be of a random sample of its answers.
    """
    judged, labelled = list(judgements), list(labels)
    # Where one side names no system, its rows are known by their questions alone.
    bare = any(all(row.system == UNNAMED for row in rows) for rows in (judged, labelled))

    def named(row: Judgement | Label) -> str:
        lang = _lang(row.question_id, copies) or UNTOLD
        return lang if bare else f"{row.system}, {lang}"

    return corrected_means(
        [msgspec.structs.replace(row, system=named(row)) for row in judged],
        [msgspec.structs.replace(row, system=named(row)) for row in labelled],
        mapping=mapping,
        threshold=threshold,
        clusters={question_id: copy.parallel for question_id, copy in copies.items() if copy.parallel},
        seed=seed,
    )
