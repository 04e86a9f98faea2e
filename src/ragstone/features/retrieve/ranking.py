"""`ragstone retrieve`: the retriever that the settings declare, or rankings made elsewhere, measured."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.retrieve._failed import FailedQuestion, failed_questions
from ragstone.features.retrieve.trec import Grades, label_questions, read_trec_run, write_trec_run
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.dataset.stale import check_evidence
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.engine.digests import made_from
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.mapping import on_cluster
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import (
    PLAIN,
    Session,
    SessionOptions,
    forecast_of,
    open_session,
    run_in_session,
)
from ragstone.kernel.errors import DataError, checks_arguments
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Chunk, Document, Question, Ranking
from ragstone.kernel.retrieval.evaluate import summarise_queries
from ragstone.kernel.retrieval.informative import score_quality
from ragstone.kernel.retrieval.qrels import read_qrels
from ragstone.kernel.retrieval.query_measures import measure_queries
from ragstone.kernel.retrieval.relevance import check_ids_meet, missing_documents, same_documents
from ragstone.kernel.retrieval.search import build_search
from ragstone.kernel.retrieval.summary import RetrievalSummary
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.stages.corpus import ChunkedCorpus, corpus_on, load_corpus, read_documents
from ragstone.kernel.stages.forecasting import sample_of
from ragstone.kernel.stages.given import asked_questions, check_lists, parse_questions
from ragstone.kernel.stages.notes import plain_notes
from ragstone.kernel.stages.retrieve import (
    rank_on_cluster,
    rank_questions,
    ranking_notes,
    retriever_deps,
    too_few_chunks,
)
from ragstone.kernel.tables import Rows, check_output, check_place, read_rows, write_rows
from ragstone.kernel.tables.storage import Place, local_path

KS = (1, 3, 5, 10)
ROWS = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet"})


class RetrieveSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone retrieve` found out.

    failed: questions without a relevant document at rank 1, the worst first. missing_documents: question id
    -> relevant documents that the corpus lacks. output: the file of rankings;
    None where they came from a file. notes: what a reader must know, in sentences.
    """

    retrieval: RetrievalSummary
    failed: list[FailedQuestion]
    missing_documents: dict[str, list[str]]
    n_rankings: int
    notes: list[str]
    calls: Calls
    output: str | None = None


def rank_to_file(
    settings: Settings,
    output: Place,
    *,
    chunks: Path | None = None,
    qrels: Path | None = None,
    trec: Path | None = None,
    how: SessionOptions = PLAIN,
    force: bool = False,
) -> RetrieveSummary:
    """Rank by the retriever that the settings declare, into a file, and return the measures.

    chunks: a file of chunks, in place of cutting documents. qrels: what is relevant, in place of what the
    questions name. trec: a TREC run file to be written too. Raises ConfigError, DataError, ModelError.
    """
    check_output(output, force)
    _check_trec(trec, output, force)
    questions = asked_questions(settings)
    grades = _grades(qrels, questions)

    async def work() -> RetrieveSummary:
        async with open_session(settings, how) as session:
            corpus = _corpus_of(settings, chunks, session.embedder) if chunks else await corpus_on(session)
            check_ids_meet(_relevant(questions, grades), _known(corpus))
            declared = settings.retrieve
            began = time.perf_counter()
            if on_cluster(session):  # each worker has an index, and builds it while it searches
                index_s, indexed = None, began
                rankings = await rank_on_cluster(
                    questions, corpus.chunks, session, corpus.documents, declared
                )
            else:
                deps = retriever_deps(session, corpus.documents)
                search = await build_search(declared.retriever, corpus.chunks, deps)
                indexed = time.perf_counter()
                index_s = indexed - began
                rankings = await search(questions, declared.k)
            searched = time.perf_counter()
        sources = [
            settings.path(path) for path in (settings.questions.path, *settings.documents.paths) if path
        ]
        made = made_from(settings, "retrieve", [*sources, *([chunks] if chunks else [])])
        write_rows(output, rankings, Ranking, force=force, made_from=made)
        if trec:
            write_trec_run(trec, rankings)
        summary = _summarise(settings, rankings, questions, corpus, grades, session.calls())
        few = too_few_chunks(len(corpus.chunks), declared.k)
        timed = msgspec.structs.replace(summary.retrieval, index_s=index_s, search_s=searched - indexed)
        return msgspec.structs.replace(
            summary, retrieval=timed, output=str(output), notes=[*summary.notes, *few]
        )

    return run_sync(work())


def measure_rankings(
    settings: Settings,
    rankings: Path,
    *,
    chunks: Path | None = None,
    qrels: Path | None = None,
    trec: Path | None = None,
    k: int | None = None,
    force: bool = False,
) -> RetrieveSummary:
    """Return the measures of rankings made elsewhere: rows, or a TREC run file, by the ending of the name.

    k: only so many places of each. Documents and chunks are not needed; where the settings name some, they
    tell which relevant documents are missing. Raises ConfigError and DataError.
    """
    _check_trec(trec, rankings, force)
    rows = list(read_rows(rankings, Ranking)) if rankings.suffix in ROWS else read_trec_run(rankings)
    if not rows:
        raise DataError(
            f"{rankings}: the file has no rankings. Check that the step that wrote it has finished."
        )
    cut = [msgspec.structs.replace(ranking, items=ranking.items[:k]) for ranking in rows]
    questions = asked_questions(settings)
    grades = _grades(qrels, questions)
    if trec:
        write_trec_run(trec, cut)
    corpus = _corpus_of(settings, chunks)
    ids = {question.id for question in questions}
    if settings.questions.limit:
        cut = [ranking for ranking in cut if ranking.question_id in ids]
    return _summarise(settings, cut, questions, corpus, grades, Calls())


def _check_trec(path: Path | None, rankings: Place, force: bool) -> None:
    """Raise DataError where a TREC run file may not be written, and where it would replace the rankings."""
    if path is None:
        return
    if path.resolve() == local_path(rankings).resolve():
        raise DataError(f"{path}: --trec names the rankings file itself. Give it another name.")
    check_place(path, force)


def _grades(qrels: Path | None, questions: Sequence[Question]) -> Mapping[str, Grades] | None:
    """Return what a qrels file says, None without one. Raises DataError if it names none of the questions."""
    if qrels is None:
        return None
    grades = read_qrels(qrels)
    if not any(question.id in grades for question in questions):
        named = f"it names e.g. {next(iter(grades))!r}" if grades else "it is empty"
        example = f", and they have ids such as {questions[0].id!r}" if questions else ""
        raise DataError(
            f"{qrels}: it has none of the questions: {named}{example}. Give the qrels of these questions."
        )
    return grades


def _corpus_of(
    settings: Settings, chunks: Path | None, embedder: Callable[[str], Embed] | None = None
) -> ChunkedCorpus:
    """Return the corpus that the settings declare, with the chunks of a file where one is given."""
    if chunks is None:
        return load_corpus(settings, embedder)
    corpus = read_documents(settings)
    return ChunkedCorpus(
        documents=corpus.documents,
        skipped=corpus.skipped,
        chunks=list(read_rows(chunks, Chunk)),
        duplicates=corpus.duplicates,
    )


def _summarise(
    settings: Settings,
    rankings: Sequence[Ranking],
    questions: Sequence[Question],
    corpus: ChunkedCorpus,
    grades: Mapping[str, Grades] | None,
    calls: Calls,
) -> RetrieveSummary:
    k = settings.retrieve.k
    lengths = {document.id: len(document.text) for document in corpus.documents}
    key = settings.documents.copies
    same = same_documents(corpus.documents, key)
    placed = check_evidence(questions, corpus.documents)
    queries = measure_queries(
        rankings,
        placed.questions,
        ks=sorted({*KS, k}),
        qrels=grades,
        same=same,
        lengths=lengths,
        unplaced=placed.unplaced,
    )
    scores = score_quality(
        rankings,
        placed.questions,
        queries,
        qrels=grades,
        same=same,
        unplaced=placed.unplaced,
        seed=settings.run.seed,
    )
    # Rankings made elsewhere may hold documents that this corpus lacks: those were found after all.
    ranked = dict.fromkeys(item.document_id for ranking in rankings for item in ranking.items)
    known = [*_known(corpus), *(Document(id=name, text="") for name in ranked)]
    missing = missing_documents(_relevant(placed.questions, grades), known) if corpus.chunks else {}
    return RetrieveSummary(
        retrieval=msgspec.structs.replace(
            summarise_queries(queries, questions, seed=settings.run.seed), scores=scores
        ),
        failed=failed_questions(queries, questions, rankings, grades),
        missing_documents=missing,
        n_rankings=len(rankings),
        notes=[
            *plain_notes([], skipped=corpus.skipped, missing=missing),
            *placed.notes(),
            *corpus.duplicate_notes(settings.documents.duplicates),
            *ranking_notes(rankings, questions, settings.retrieve),
        ],
        calls=calls,
    )


def _relevant(questions: Sequence[Question], grades: Mapping[str, Grades] | None) -> Sequence[Question]:
    return questions if grades is None else label_questions(questions, grades)


def _known(corpus: ChunkedCorpus) -> Sequence[Document]:
    """Return the documents; those that a file of chunks names, where there is nothing else."""
    names = dict.fromkeys(chunk.document_id for chunk in corpus.chunks)
    return corpus.documents or [Document(id=name, text="") for name in names]


def forecast_retrieving(settings: Settings, chunks: Path | None = None) -> Forecast:
    """Return what rerankers would ask. Raises what rank_to_file raises before a call."""

    async def work(session: Session) -> None:
        questions, corpus = asked_questions(settings), _corpus_of(settings, chunks, session.embedder)
        sampled = sample_of(questions, session)
        await rank_questions(sampled, corpus.chunks, session, documents=corpus.documents)

    return forecast_of(settings, work)


@checks_arguments
def retrieve(
    questions: Iterable[Question | dict[str, Any] | str],
    chunks: Sequence[Chunk],
    *,
    columns: Mapping[str, str] | None = None,
    documents: Sequence[Document] = (),
    retriever: str | None = None,
    k: int | None = None,
    embedder: str | None = None,
    where: Mapping[str, str] | None = None,
    match: Sequence[str] | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> Rows[Ranking]:
    """Return a ranking of at most k chunks for each question, best first.

    questions: rows, texts, or dicts or a data frame in anybody's columns; columns: field -> column of these.
    documents: those of the chunks; the results of a retriever behind HTTP are placed in them. retriever, k,
    embedder, where, match: in place of those in `settings` (default: ragstone.toml, else `bm25`, 5,
    `packaged` and no filter). budget, deadline, offline: of a reranker that asks a model; a question whose
    call they cut off keeps its first order, and its `metadata` says so. Raises ConfigError for an unknown
    retriever or tag, DataError for rows that are no list, MissingExtra without the package of an embedder or
    an index, ModelError where a model or a retriever behind HTTP cannot be had.
    """
    check_lists({Chunk: chunks, Document: documents})
    rows_asked = parse_questions(questions, columns)
    chosen = choose(
        settings or load_settings(),
        "retrieve",
        retriever=retriever,
        k=k,
        embedder=embedder,
        where=where and dict(where),
        match=match and list(match),
    )
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)

    async def work(session: Session) -> Rows[Ranking]:
        return Rows(await rank_questions(rows_asked, chunks, session, documents=documents), Ranking)

    return run_in_session(chosen, how, work)
