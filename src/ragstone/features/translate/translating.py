"""Questions, facts and documents -> the same in other languages, checked, the lost ones with their reason."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Generic

import msgspec

from ragstone.features.translate._rows import (
    Pair,
    RowT,
    TranslatedRow,
    TranslationTask,
    marked,
    translate_document,
    translate_question,
    with_loss,
)
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.dataset.languages import NAMES
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, run_in_session
from ragstone.kernel.errors import ConfigError, DataError, ModelError, nearest, plural, takes_rows
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.llm import DEADLINE, parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Document, Question, Status
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.tables import read_rows
from ragstone.kernel.translation.services import Translate
from ragstone.kernel.translation.translators import check_translator, open_asking, translator_by

SHOWN = 3


class TranslationJob(msgspec.Struct, Generic[RowT], frozen=True):
    """A row, its language, and the one wanted."""

    row: RowT
    source: str
    target: str


class Jobs(msgspec.Struct, Generic[RowT], frozen=True, kw_only=True):
    """What is to be done, language by language in the order of the rows.

    spoken: the rows that are translated at all, with their languages. n_other: rows in another language than
    the one that is to be translated. n_same: for how many rows and languages the row is in that one
    already.
    """

    spoken: list[tuple[RowT, str]]
    jobs: list[TranslationJob[RowT]]
    n_other: int
    n_same: int


def plan(rows: Sequence[RowT], to: Sequence[str], source: str | None = None) -> Jobs[RowT]:
    """Return the jobs of these rows.

    source: only rows in this language are translated, and a row that does not say its language is taken to be
    in it; without one, such a row's language is detected. Raises DataError where that cannot be told.
    """
    spoken = [
        (row, row.lang or source or detect_language(row.question if isinstance(row, Question) else row.text))
        for row in rows
    ]
    unknown = [row.id for row, lang in spoken if lang is None]
    if unknown:
        raise DataError(
            f"the language of {plural(len(unknown), 'row')} is not stated and cannot be detected: "
            f"{', '.join(unknown[:SHOWN])}. Add the field `lang`, or give the language with --from."
        )
    chosen = [(row, lang) for row, lang in spoken if lang and (source is None or same(lang, source))]
    jobs = [
        TranslationJob(row, lang, target) for target in to for row, lang in chosen if not same(lang, target)
    ]
    return Jobs(
        spoken=chosen,
        jobs=jobs,
        n_other=len(rows) - len(chosen),
        n_same=len(chosen) * len(to) - len(jobs),
    )


def same(lang: str, other: str) -> bool:
    """Say whether two codes are of one language; pt and pt-BR are, pt-PT and pt-BR are not."""
    code, two = lang.replace("_", "-").casefold(), other.replace("_", "-").casefold()
    return code == two or f"{code}-".startswith(f"{two}-") or f"{two}-".startswith(f"{code}-")


def check_langs(langs: Sequence[str]) -> None:
    """Raise ConfigError for a code that is no language's, and for one that is given twice."""
    for lang in langs:
        base = lang.replace("_", "-").partition("-")[0]
        if base not in NAMES and not (len(base) == 3 and base.isascii() and base.isalpha()):
            code = next((code for code, name in NAMES.items() if name.casefold() == lang.casefold()), None)
            hint = f"Did you mean {code!r}?" if code else nearest(base, NAMES)
            raise ConfigError(f"{lang!r} is not a language code (ISO 639). {hint}")
        if list(langs).count(lang) > 1:
            raise ConfigError(f"{lang!r} is given twice. Name each language once.")


class Translated(msgspec.Struct, Generic[RowT], frozen=True, kw_only=True):
    """Rows in other languages: those to be used, and all of them, the lost ones with their reason.

    rows: the originals first, if they are wanted, then language by language in the order of the rows.
    every: all translations, in the same order; a lost one has `lost` in its metadata.
    """

    rows: list[RowT]
    every: list[RowT]


class TranslationCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of rows of one kind.

    n_rows: given. n_other: not in the language that was to be translated; n_same: in a language wanted
    already, counted once for each. n_translated: language -> usable ones. lost: language -> reason -> rows.
    chrf: language -> the mean of what came back against what was given, None where nothing did.
    """

    n_rows: int
    n_other: int
    n_same: int
    n_translated: dict[str, int]
    lost: dict[str, dict[str, int]]
    chrf: dict[str, float | None]


class TranslatingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of all rows; `statuses` of their calls: one a row and language."""

    questions: TranslationCounts | None
    documents: TranslationCounts | None
    statuses: dict[Status, int]
    calls: Calls


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """What `translate` made; `questions` or `documents` is None where none were given."""

    questions: Translated[Question] | None
    documents: Translated[Document] | None
    summary: TranslatingSummary


class Translating(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be translated; source and originals: see `translate`."""

    questions: list[Question] = []
    documents: list[Document] = []
    source: str | None = None
    originals: bool = False


def read_translatable(path: Path) -> tuple[list[Question], list[Document]]:
    """Return the rows of a file, one of the lists being empty: questions if its first row is one.

    Raises DataError, for a file with rows of both kinds too.
    """
    kind: type[Question] | type[Document] = Question
    try:
        next(read_rows(path, Question))
    except DataError:
        kind = Document
    try:
        return ([*read_rows(path, Question)], []) if kind is Question else ([], [*read_rows(path, Document)])
    except DataError as mistake:
        raise DataError(
            f"{mistake}\n{path} is read as {kind.__name__.lower()}s, as its first row is. A file holds "
            "rows of one kind: questions (id, question) or documents (id, text); --documents takes these too."
        ) from None


@takes_rows(rows=(Question, Document), documents=Document)
def translate(
    rows: Sequence[Question] | Sequence[Document],
    *,
    to: str | Sequence[str],
    by: str | None = None,
    documents: Sequence[Document] = (),
    source: str | None = None,
    back: str | None = None,
    chrf: float | None = None,
    originals: bool = False,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> Translation:
    """Return questions, or documents, in other languages.

    to: language codes. by, back, chrf: see `[translate]`. documents: those that the questions speak of, which
    are translated with them, so that the translated questions point at the translated documents. source: only
    rows in this language are translated; one that does not say its language is taken to be in it. originals:
    the rows that were given stand among those that come back. budget: e.g. `100calls`; deadline: e.g. `30m`.

    Raises ConfigError where nobody translates or a language is none; DataError without rows, for a row whose
    language nobody knows, and where no row needs translating; ModelError when no call can succeed.
    """
    declared = settings or load_settings()
    langs = [to] if isinstance(to, str) else list(to)
    chosen = choose(declared, "translate", to=langs, by=by, back=back, chrf=chrf)
    wanted = Translating(
        questions=[row for row in rows if isinstance(row, Question)],
        documents=[*(row for row in rows if isinstance(row, Document)), *documents],
        source=source,
        originals=originals,
    )
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return translate_in_session(wanted, chosen, how)


def translate_in_session(wanted: Translating, settings: Settings, how: SessionOptions) -> Translation:
    """Return what `translate` returns, in a session of its own; `[translate]` says how."""
    return run_in_session(settings, how, lambda session: translate_rows(wanted, session))


def forecast_translating(wanted: Translating, settings: Settings) -> Forecast:
    """Return what translating would ask. Raises what `translate` raises before a call."""
    return forecast_of(settings, lambda session: translate_rows(wanted, session))


async def translate_rows(wanted: Translating, session: Session) -> Translation:
    """Return the rows in the languages of `[translate]`, and what became of each."""
    to = session.settings.translate.to
    if not wanted.questions and not wanted.documents:
        raise DataError("there are no rows to translate.")
    if not to:
        raise ConfigError("name the target languages: --to hi,es, or to in the table [translate].")
    check_langs([*to])
    check_langs([wanted.source] if wanted.source else [])
    documents = plan(wanted.documents, to, wanted.source)
    questions = plan(wanted.questions, to, wanted.source)
    if not documents.jobs and not questions.jobs:
        raise DataError(
            f"nothing to translate into {', '.join(to)}: {documents.n_same + questions.n_same} rows "
            f"are in the language wanted, and {documents.n_other + questions.n_other} in a language "
            "other than --from names."
        )
    by, back = names_of(session.settings)
    forth = await _opened(by, session)
    stage = _Stage(session, by, forth, None if back is None else await _opened(back, session))
    made_documents = await stage.run("translate documents", translate_document, documents)
    pairs_of: dict[str, dict[str, Pair]] = {}  # language -> id, of documents that are not lost
    for job, translated in zip(documents.jobs, made_documents, strict=True):
        if translated.loss is None:
            pairs_of.setdefault(job.target, {})[job.row.id] = Pair(job.row, translated.row)

    async def with_documents(question: Question, task: TranslationTask) -> TranslatedRow[Question]:
        return await translate_question(question, task, pairs_of.get(task.target))

    made_questions = await stage.run("translate questions", with_documents, questions)
    outcomes = [(outcome.loss, outcome.status) for outcome in made_documents]
    outcomes += [(outcome.loss, outcome.status) for outcome in made_questions]
    failures = [loss for loss, _ in outcomes if loss and loss.reason == "not_translated"]
    capped = any(status == "over_budget" for _, status in outcomes)
    capped = capped or any(DEADLINE in str(loss.detail) for loss in failures)
    if len(failures) == len(outcomes) and not capped:
        raise ModelError(f"no row was translated: {failures[0].detail}")
    summary = TranslatingSummary(
        questions=_counts(wanted.questions, questions, made_questions),
        documents=_counts(wanted.documents, documents, made_documents),
        statuses=dict(Counter(status for _, status in outcomes)),
        calls=session.calls(),
    )
    return Translation(
        questions=_translated(questions, made_questions, wanted.originals) if wanted.questions else None,
        documents=_translated(documents, made_documents, wanted.originals) if wanted.documents else None,
        summary=summary,
    )


NONE, SAME = "none", "same"


def names_of(settings: Settings) -> tuple[str, str | None]:
    """Return who translates, and who translates back; None where nobody does. Raises ConfigError."""
    declared = settings.translate
    if declared.by is None:
        raise ConfigError(
            "name the translator: --by with a model (e.g. openai/gpt-4o-mini) or http, or by in "
            "the table [translate] of ragstone.toml."
        )
    back = {SAME: declared.by, NONE: None}.get(declared.back, declared.back)
    for name in (declared.by, back):
        if name is not None:
            check_translator(name)
    return declared.by, back


async def _opened(name: str, session: Session) -> Translate:
    ask = await open_asking(name, session.settings, session.models)
    return translator_by(name, ask, session.settings, session.secret())


class _Stage(msgspec.Struct, frozen=True):
    """Who translates, and how."""

    session: Session
    by: str
    forth: Translate
    back: Translate | None

    async def run(
        self,
        name: str,
        work: Callable[[RowT, TranslationTask], Awaitable[TranslatedRow[RowT]]],
        jobs: Jobs[RowT],
    ) -> list[TranslatedRow[RowT]]:
        """Return what becomes of each job, in order."""
        declared = self.session.settings.translate

        async def one(job: TranslationJob[RowT]) -> TranslatedRow[RowT]:
            task = TranslationTask(
                source=job.source,
                target=job.target,
                forth=self.forth,
                by=self.by,
                back=self.back,
                lowest=declared.chrf,
                longest=declared.passage,
            )
            return await work(job.row, task)

        return await self.session.each(name, one, jobs.jobs) if jobs.jobs else []


def _translated(jobs: Jobs[RowT], made: Sequence[TranslatedRow[RowT]], originals: bool) -> Translated[RowT]:
    spoken: list[RowT] = [
        msgspec.structs.replace(row, lang=lang, metadata=marked(row.metadata, row.id))
        for row, lang in jobs.spoken
    ]
    return Translated(
        rows=(spoken if originals else [])
        + [translated.row for translated in made if translated.loss is None],
        every=[with_loss(translated) for translated in made],
    )


def _counts(
    rows: Sequence[RowT], jobs: Jobs[RowT], made: Sequence[TranslatedRow[RowT]]
) -> TranslationCounts | None:
    if not rows:
        return None
    by_lang: dict[str, list[TranslatedRow[RowT]]] = {}
    for job, translated in zip(jobs.jobs, made, strict=True):
        by_lang.setdefault(job.target, []).append(translated)
    scores = {
        lang: [translated.chrf for translated in some if translated.chrf is not None]
        for lang, some in by_lang.items()
    }
    return TranslationCounts(
        n_rows=len(rows),
        n_other=jobs.n_other,
        n_same=jobs.n_same,
        n_translated={
            lang: sum(translated.loss is None for translated in some) for lang, some in by_lang.items()
        },
        lost={
            lang: dict(
                sorted(Counter(translated.loss.reason for translated in some if translated.loss).items())
            )
            for lang, some in by_lang.items()
        },
        chrf={lang: round(sum(some) / len(some), 4) if some else None for lang, some in scores.items()},
    )
