"""Every stage that ragstone.toml declares, one after the other, into one run folder."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.features.report import write_reports
from ragstone.features.run._breakdown import distributions, found_and_right, means_by_tag, rank_systems
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.corrected_mean import RANDOM_SAMPLE, CorrectedMean
from ragstone.kernel.config import AgreeSection, Settings, load_settings
from ragstone.kernel.dataset.placing import PlacedEvidence
from ragstone.kernel.dataset.stale import check_evidence
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.manifest import check_manifest, write_manifest
from ragstone.kernel.engine.output import made_and_held, write_stream
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.progress_file import progress_on_disk
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, open_session
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments
from ragstone.kernel.judging import Judge, MetricSummary, question_clusters, summarise
from ragstone.kernel.judging.fields import members_of
from ragstone.kernel.judging.noise import NoiseTally
from ragstone.kernel.judging.pairwise import unpaired_notes
from ragstone.kernel.judging.savings import cascade_savings
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Answer, Chunk, Document, Judgement, Question, Ranking
from ragstone.kernel.retrieval.evaluate import evaluate_rankings
from ragstone.kernel.retrieval.relevance import missing_documents, same_documents
from ragstone.kernel.retrieval.summary import RetrievalSummary
from ragstone.kernel.runs.headlines import common_headline, headlines
from ragstone.kernel.runs.run import CERTIFICATE, read_certificate
from ragstone.kernel.runs.summary import Calls, RunSummary
from ragstone.kernel.stages.answer import answer_rows, hear_answering
from ragstone.kernel.stages.answer_notes import system_notes
from ragstone.kernel.stages.calibrate import (
    cards_of,
    check_labels,
    corrected_of_run,
    measured_judges,
)
from ragstone.kernel.stages.corpus import ChunkedCorpus, corpus_on
from ragstone.kernel.stages.forecasting import hear_judged, hear_judging
from ragstone.kernel.stages.given import asked_questions
from ragstone.kernel.stages.judge import count_planned, judge_rows
from ragstone.kernel.stages.notes import masking_notes, plain_notes
from ragstone.kernel.stages.retrieve import rank_questions, ranking_notes
from ragstone.kernel.systems.chosen import asks_built_in, check_repeats, searches, with_system
from ragstone.kernel.systems.prompting import load_prompt
from ragstone.kernel.systems.rows import join_questions, with_columns
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.version import __version__


class PipelineRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a run, as they stand in its folder. from_ledger: system -> answers that the ledger had."""

    corpus: ChunkedCorpus
    questions: list[Question]
    rankings: list[Ranking]
    answers: list[Answer]
    judgements: list[Judgement]
    from_ledger: Counter[str]


@checks_arguments
def run(
    settings: Settings | Path | str,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    batch: bool = False,
    force: bool = False,
    progress: Progress = silent,
    bounds: bool = False,
) -> RunSummary:
    """Run every declared stage and return the run's numbers; rows and report stand in `runs/NAME/`.

    settings: they, or the path of their file. Run again, no finished call is made twice and every file of
    rows comes out the same. force: replace a run of the same name that had other settings. budget: e.g.
    `100calls` or `2usd`; what it cuts off has the status `over_budget`. deadline: e.g. `30m`; what it cuts
    off has the status `timeout`. batch: by the provider's batch API, cheaper, in hours. bounds: every mean
    with failed rows is shown with its worst and best case, not only where many failed. Raises ConfigError for
    settings that do not fit together, DataError for files, ModelError when no call can succeed.
    """
    if not isinstance(settings, Settings):
        settings = load_settings(Path(settings))
    how = SessionOptions(parse_caps(budget, deadline), offline, batch, progress)
    return run_sync(_run(settings, how, force=force, bounds=bounds))


async def _run(settings: Settings, how: SessionOptions, *, force: bool, bounds: bool) -> RunSummary:
    settings = with_system(settings)
    judges = checked_judges(settings)
    check_labels(settings, judges)
    folder = run_folder(settings)
    with made_and_held(folder, CERTIFICATE), contextlib.ExitStack() as ending:
        check_manifest(folder, settings, force)
        how = how._replace(progress=ending.enter_context(progress_on_disk(folder, how.progress)))
        notes = copy_certificate(settings, folder)
        async with open_session(settings, how) as session:
            with session.logging_calls(folder):
                rows = await _make_rows(settings, folder, judges, session)
            cards = await cards_of(settings, judges, session, rows.judgements)
            models = session.roles(members_of(judges))
        notes = system_notes(rows.answers, rows.from_ledger, settings) + notes + masking_notes(settings)
        summary = _summarise(settings, judges, rows, cards, models=models, calls=session.calls())
        summary = msgspec.structs.replace(
            summary, notes=[*summary.notes, *notes], bounds_from=0.0 if bounds else summary.bounds_from
        )
        write_manifest(folder, settings, judges, models)
        (folder / "summary.json").write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2))
        write_reports(folder)
    return summary


def forecast_run(settings: Settings) -> Forecast:
    """Return what a run would ask, its judges on answers that are made up where the ledger has none.

    Raises what `run` raises before it makes a call. Nothing is written to the run's folder.
    """
    settings = with_system(settings)
    judges = checked_judges(settings)
    check_labels(settings, judges)

    async def work(session: Session) -> None:
        if settings.answer.sheet:
            path = settings.questions.path
            questions = {row.id: row for row in asked_questions(settings)} if path else {}
            sheet = settings.path(settings.answer.sheet)
            await hear_judging(
                lambda: islice(join_questions(read_rows(sheet, Answer), questions), settings.answer.limit),
                judges,
                session,
            )
        else:
            await hear_judged(await hear_answering(settings, session), judges, session)
        if settings.agree.sheet:
            labelled = settings.path(settings.agree.sheet)
            measured = measured_judges(settings, judges)
            await hear_judging(lambda: read_rows(labelled, Answer), measured, session)

    return forecast_of(settings, work)


def run_folder(settings: Settings) -> Path:
    """Return the folder of the run that the settings name."""
    return settings.path("runs") / settings.run.name


def checked_judges(settings: Settings) -> list[Judge]:
    """Return the judges, after the checks that need no file: nothing is paid for before they pass."""
    judges = load_judges(map(settings.named, settings.judge.judges))
    if settings.answer.sheet is not None and settings.answer.system is not None:
        raise ConfigError(f"{_file(settings)}: [answer] has both sheet and system. Keep one of them.")
    check_repeats(settings)
    if searches(settings):
        _check_built_in(settings)
    elif settings.answer.system is not None and not settings.questions.path:
        raise ConfigError(
            f"{_file(settings)}: [questions] path is missing. Name the questions to ask [answer] system."
        )
    return judges


def _file(settings: Settings) -> str:
    return settings.file or "ragstone.toml"


def _check_built_in(settings: Settings) -> None:
    """Raise ConfigError where what the built-in RAG or the extractive system needs is missing."""
    needed = {"[documents] paths": settings.documents.paths, "[questions] path": settings.questions.path}
    if not asks_built_in(settings):
        whose = "The extractive system needs documents and questions"
    else:
        needed["[answer] model"] = settings.answer.model
        whose = "The built-in application needs documents, questions and a model"
    for name, path in needed.items():
        if not path:
            without = ' (without a model answers system = "extractive")' if name == "[answer] model" else ""
            raise ConfigError(
                f"{_file(settings)}: {name} is missing. {whose}{without}; for answers made elsewhere give "
                "[answer] sheet, for another application [answer] system."
            )
    if asks_built_in(settings):
        load_prompt(settings.named(settings.answer.prompt))


def copy_certificate(settings: Settings, folder: Path) -> list[str]:
    """Copy certificate.json from beside `[questions] path` into a run's folder, and return notes.

    One that an earlier run left in the folder goes where there is none now. One that cannot be understood is
    not copied, and noted: no run fails for it.
    """
    copy = folder / CERTIFICATE
    source = settings.path(settings.questions.path or "").parent / CERTIFICATE
    if source.resolve() == copy.resolve():
        return []
    copy.unlink(missing_ok=True)
    if not settings.questions.path or not source.is_file():
        return []
    try:
        read_certificate(source)
    except DataError as mistake:
        return [f"The certificate next to the questions is not shown. {mistake}"]
    copy.write_bytes(source.read_bytes())
    return []


async def _make_rows(settings: Settings, folder: Path, judges: list[Judge], session: Session) -> PipelineRows:
    """Return the rows of every stage, each written to the folder before the next stage begins."""
    questions: list[Question] = []
    if settings.questions.path:
        rows = read_rows(settings.path(settings.questions.path), Question)
        questions = list(islice(rows, settings.questions.limit))
        write_rows(folder / "questions.jsonl", questions, Question, force=True)
    corpus = await corpus_on(session)
    rankings: list[Ranking] = []
    from_ledger: Counter[str] = Counter()
    if corpus.chunks:
        write_rows(folder / "documents.jsonl", corpus.documents, Document, force=True)
        write_rows(folder / "chunks.jsonl", corpus.chunks, Chunk, force=True)
        rankings = await rank_questions(questions, corpus.chunks, session, documents=corpus.documents)
        write_rows(folder / "rankings.jsonl", rankings, Ranking, force=True)
    if settings.answer.sheet:
        made = _from_sheet(settings, {question.id: question for question in questions})
    else:
        answered = questions[: settings.answer.limit]
        made = answer_rows(
            answered,
            rankings,
            corpus.chunks,
            session,
            documents=corpus.documents,
            from_ledger=from_ledger,
            repeats=settings.answer.repeats or 1,
        )
    answers: list[Answer] = []
    await write_stream(made, folder / "answers.jsonl", Answer, each=answers.append, force=True)
    by_id = {question.id: question for question in questions}
    judged = judge_rows(lambda: with_columns(answers, by_id), judges, session, len(answers))
    judgements: list[Judgement] = []
    await write_stream(
        judged,
        folder / "judgements.jsonl",
        Judgement,
        each=judgements.append,
        n_planned=count_planned(judges, len(answers)),
        force=True,
    )
    return PipelineRows(
        corpus=corpus,
        questions=questions,
        rankings=rankings,
        answers=answers,
        judgements=judgements,
        from_ledger=from_ledger,
    )


async def _from_sheet(settings: Settings, questions: Mapping[str, Question]) -> AsyncIterator[Answer]:
    answers = read_rows(settings.path(settings.answer.sheet or ""), Answer)
    for row in islice(join_questions(answers, questions), settings.answer.limit):
        yield row


def _summarise(
    settings: Settings,
    judges: list[Judge],
    rows: PipelineRows,
    cards: list[ReportCard],
    *,
    models: dict[str, str],
    calls: Calls,
) -> RunSummary:
    seed, documents = settings.run.seed, rows.corpus.documents
    clusters = question_clusters(rows.questions)
    metrics = summarise(rows.judgements, clusters=clusters, seed=seed)
    corrected = corrected_of_run(settings, rows.judgements, clusters)
    noise = NoiseTally(clusters)
    for row in rows.judgements:
        noise.add(row)
    same = same_documents(documents, settings.documents.copies)
    checked = check_evidence(rows.questions, documents)
    questions, stale = checked.questions, checked.stale
    missing = missing_documents(questions, documents) if documents else {}
    summary = RunSummary(
        name=settings.run.name,
        version=__version__,
        models=models,
        counts=_counts(rows),
        retrieval=_measure(settings, rows, checked, same),
        metrics=metrics,
        cards=cards,
        corrected=corrected,
        calls=calls,
        notes=[
            *plain_notes(
                metrics,
                cards,
                rows.corpus.skipped,
                missing,
                judges=judges,
                judgements=f"runs/{settings.run.name}/judgements.jsonl",
            ),
            *correction_notes(corrected, settings.agree),
            *(checked.notes() if rows.rankings or stale else ()),
            *rows.corpus.duplicate_notes(settings.documents.duplicates),
            *ranking_notes(rows.rankings, rows.questions, settings.retrieve),
            *unpaired_notes(judges, rows.answers),
            *noise.notes(),
        ],
        components=noise.components(seed) or msgspec.UNSET,
        cascades=cascade_savings(rows.judgements),
        distributions=distributions(rows.judgements),
        stale=dict(stale) or msgspec.UNSET,
        by_tag=means_by_tag(rows.judgements, rows.questions, rows.answers, clusters=clusters, seed=seed),
    )
    lead = common_headline(summary)
    board = lead and rank_systems(lead, rows.judgements, clusters=clusters, seed=seed)
    # Of a question that is stale nobody can say whether its evidence was found.
    by_id = {question.id: question for question in questions if question.id not in stale}
    tables = [
        found_and_right(lead, rows.answers, rows.judgements, by_id, same)
        for lead in headlines(summary)
        if not lead.labels
    ]
    notes = summary.notes if board else unranked_notes(metrics) + summary.notes
    tables = [table for table in tables if table]
    return msgspec.structs.replace(summary, notes=notes, blame=tables, systems=board)


def _measure(
    settings: Settings, rows: PipelineRows, placed: PlacedEvidence, same: Mapping[str, str]
) -> list[RetrievalSummary]:
    """Return the measures of the rankings; none where nothing was ranked. same: see same_documents."""
    if not rows.rankings:
        return []
    ks = sorted({1, 3, 5, 10, settings.retrieve.k})
    lengths = {document.id: len(document.text) for document in rows.corpus.documents}
    seed = settings.run.seed
    return [
        evaluate_rankings(
            rows.rankings,
            placed.questions,
            ks=ks,
            same=same,
            lengths=lengths,
            unplaced=placed.unplaced,
            seed=seed,
        )
    ]


def _counts(rows: PipelineRows) -> dict[str, int]:
    counts = {
        "documents": len(rows.corpus.documents),
        "chunks": len(rows.corpus.chunks),
        "questions": len(rows.questions),
        "answers": len(rows.answers),
        "judgements": len(rows.judgements),
    }
    return {name: n for name, n in counts.items() if n}


def correction_notes(corrected: Sequence[CorrectedMean], declared: AgreeSection) -> list[str]:
    """Return what to know of corrected means; where only a labelled sheet is given, how to get some."""
    if declared.sheet and not declared.labels:
        return [
            "The labels of [agree] sheet belong to other answers: they test the judges, but correct no "
            "score of this run. Labels of this run's own answers would: choose some with `ragstone "
            "label`, and name them as `labels` in [agree]."
        ]
    notes = [RANDOM_SAMPLE] if corrected else []
    return [*notes, *dict.fromkeys(note for mean in corrected for note in mean.notes)]


def unranked_notes(metrics: Sequence[MetricSummary]) -> list[str]:
    """Return the note of a run whose systems have no place in an order, see experiments.rank_systems.

    metrics: of all systems. Empty where there are fewer than two.
    """
    n_systems = len({metric.system for metric in metrics})
    if n_systems < 2:
        return []
    if any(metric.labels for metric in metrics) and all(metric.estimate is None for metric in metrics):
        return [
            f"The {n_systems} systems are not ranked: their judges give labels, and no label is "
            "better than another."
        ]
    return [
        f"The {n_systems} systems are not ranked: no judge has scored an answer from each of them to the "
        "same question, so their means may differ because their questions do."
    ]
