"""Rankings from an index of each language and of all -> whether all together find more than the own one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from ragstone.features.bench.languages._values import (
    ALL,
    OWN,
    AxisVerdict,
    LanguageCell,
    LanguageVerdict,
    StudyArm,
)
from ragstone.features.bench.retrievers.paired import compare_rankings
from ragstone.kernel.records import Question, Ranking
from ragstone.kernel.retrieval.evaluate import mean_measures
from ragstone.kernel.retrieval.query_measures import QueryMeasures, measure_cut
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.statistics.families import as_family

MEASURE = "mrr"  # what the verdict is by: unlike recall it sees every place
Indexes = Mapping[str, Sequence[Ranking]]
"""Language of an index, or ALL -> the rankings of all questions from it."""


def language_cells(
    retriever: str,
    indexes: Indexes,
    questions: Sequence[Question],
    k: int,
    same: Mapping[str, str],
    lang_of: Mapping[str, str],
    *,
    seed: int = 0,
) -> list[LanguageCell]:
    """Return a cell for each language of questions and each index, in the order of both.

    lang_of: document id -> its language.
    """
    cells = []
    for lang, of_lang in by_lang(questions).items():
        for index, rankings in indexes.items():
            queries = measured(rankings, of_lang, k, same)
            means = mean_measures(queries, seed=seed)
            cells.append(
                LanguageCell(
                    retriever=retriever,
                    lang=lang,
                    index=index,
                    n_questions=means.n_questions,
                    n_absent=_n_absent(of_lang, queries, index, same, lang_of),
                    measures=means.measures,
                )
            )
    return cells


def language_verdicts(
    indexes_of: Mapping[str, Indexes],
    questions: Sequence[Question],
    k: int,
    same: Mapping[str, str],
    *,
    seed: int = 0,
) -> list[LanguageVerdict]:
    """Return, of each retriever, the verdict on questions of each language and on all of them.

    indexes_of: retriever -> its indexes. Questions in a language without an index of its own are left out.
    Holm's correction is over all verdicts that come back.
    """
    verdicts = []
    for retriever, indexes in indexes_of.items():
        with_index = [question for question in questions if question.lang in indexes]
        own = own_rankings(indexes, with_index)
        for lang, some in groups(with_index).items():
            queries = {
                ALL: measured(indexes[ALL], some, k, same),
                OWN: measured(own, some, k, same),
            }
            if queries[ALL].first_ranks:
                verdicts.append(verdict_of(StudyArm(retriever=retriever), lang, queries, MEASURE, seed))
    return corrected(verdicts)


def measured_values(
    values_of: Mapping[str, Mapping[str, float]], documents: Mapping[str, str], measure: str
) -> dict[str, QueryMeasures]:
    """Return values that no ranking gave, such as right answers, in the form that rankings are compared in.

    values_of: name -> question id -> value. documents: question id -> what questions that are not independent
    share.
    """
    return {
        name: QueryMeasures(
            retriever=name,
            depth=0,
            values={measure: dict(values)},
            first_ranks=dict.fromkeys(values),
            documents={question: documents[question] for question in values},
            n_unlabelled=0,
            n_unanswerable=0,
            n_unranked=0,
        )
        for name, values in values_of.items()
    }


VerdictT = TypeVar("VerdictT", LanguageVerdict, AxisVerdict)


def corrected(verdicts: Sequence[VerdictT]) -> list[VerdictT]:
    """Return the verdicts with Holm's correction over all of them."""
    comparisons = as_family([verdict.comparison for verdict in verdicts])
    return [
        msgspec.structs.replace(verdict, comparison=comparison)
        for verdict, comparison in zip(verdicts, comparisons, strict=True)
    ]


def own_rankings(indexes: Indexes, questions: Iterable[Question]) -> list[Ranking]:
    """Return the ranking of each question from the index of its language."""
    of_index = {index: {row.question_id: row for row in rows} for index, rows in indexes.items()}
    return [of_index[question.lang or ""][question.id] for question in questions]


def by_lang(questions: Iterable[Question]) -> dict[str, list[Question]]:
    """Return language -> questions in it, languages in order of appearance."""
    by_language: dict[str, list[Question]] = {}
    for question in questions:
        by_language.setdefault(question.lang or "", []).append(question)
    return by_language


def groups(questions: Sequence[Question]) -> dict[str, list[Question]]:
    """Return the questions by language and, where there are several languages, all of them as ALL."""
    by_language = by_lang(questions)
    return {**by_language, ALL: list(questions)} if len(by_language) > 1 else by_language


def measured(
    rankings: Sequence[Ranking], questions: Sequence[Question], k: int, same: Mapping[str, str]
) -> QueryMeasures:
    """Return the measures of a study, of these questions alone, by the first k items."""
    names = {question.id for question in questions}
    rows = [row for row in rankings if row.question_id in names]
    queries = measure_cut(rows, questions, k, same, {}, ks=(1,))
    names_of_study = {"recall@1", f"recall@{k}", MEASURE}
    return msgspec.structs.replace(
        queries, values={name: queries.values[name] for name in queries.values if name in names_of_study}
    )


def verdict_of(
    arm: StudyArm, lang: str, queries: Mapping[str, QueryMeasures], measure: str, seed: int
) -> LanguageVerdict:
    """Return the verdict on questions of a language, not corrected yet. queries: those of ALL and of OWN."""
    [comparison] = compare_rankings(queries, measure, seed=seed)
    return LanguageVerdict(
        **msgspec.structs.asdict(arm),
        lang=lang,
        own=mean_measures(queries[OWN], seed=seed).measures[measure],
        together=mean_measures(queries[ALL], seed=seed).measures[measure],
        comparison=comparison,
    )


def _n_absent(
    questions: Sequence[Question],
    queries: QueryMeasures,
    index: str,
    same: Mapping[str, str],
    lang_of: Mapping[str, str],
) -> int:
    there = {same.get(document, document) for document, lang in lang_of.items() if index in (ALL, lang)}
    return sum(
        question.id in queries.first_ranks
        and there.isdisjoint(same.get(name, name) for name in relevant_documents(question))
        for question in questions
    )
