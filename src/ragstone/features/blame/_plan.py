"""A run folder and `[blame]` -> what is to be asked of which judges and models, checked before any call."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragstone.features.blame._steps import read_steps
from ragstone.kernel.config import (
    Settings,
    choose,
)
from ragstone.kernel.config.python_function import names_function
from ragstone.kernel.config.systems import ExtractiveSystem, RagSystem
from ragstone.kernel.dataset.stale import check_evidence
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.errors import ConfigError, DataError, explaining, nearest, plural
from ragstone.kernel.judging import Judge, MetricSummary, load_judge
from ragstone.kernel.judging.conversation import conversation_of
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.records import (
    JOINT_SUFFIX,
    NO_MODEL,
    Answer,
    Chunk,
    Document,
    Judgement,
    Label,
    Question,
)
from ragstone.kernel.retrieval.relevance import relevant_documents, same_documents
from ragstone.kernel.runs.folders import MANIFEST
from ragstone.kernel.runs.headlines import headlines
from ragstone.kernel.runs.run import read_manifest
from ragstone.kernel.runs.summary import RunSummary, read_summary
from ragstone.kernel.stages.notes import unscored_note
from ragstone.kernel.systems.prompting import load_prompt
from ragstone.kernel.systems.rows import THREAD, with_columns
from ragstone.kernel.tables import parse_row, read_rows
from ragstone.kernel.tables.calls import FORM
from ragstone.kernel.tables.names import accepted_names, fold

SUPPORT, REFUSAL = "faithfulness", "answered"  # metrics whose judges tell what an answer was made from, or is
QUESTIONS = "questions.jsonl"
FREE = {SUPPORT: "grounding", REFUSAL: "no_refusal"}  # where the run has no judge of these
NAMING = {*map(fold, accepted_names(Question, "document_ids"))}  # columns of relevant documents
SHOWN_ERRORS = 10

# Tables of the run that decide what is asked here.
DECISIVE = ("answer", "documents", "judge", "retrieve")

RowT = TypeVar("RowT", Answer, Chunk, Document, Judgement, Question)


class BlamedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a run folder holds that blame reads.

    of_sheet: `ragstone judge` wrote it, so that it holds no documents, and the questions are what the answers
    carry. same: copies of documents, see same_documents.
    """

    folder: Path
    summary: RunSummary
    of_sheet: bool
    questions: dict[str, Question]
    documents: dict[str, Document]
    chunks_of: dict[str, list[Chunk]]
    answers: list[Answer]
    judgements: list[Judgement]
    same: dict[str, str]


class BlamePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Who is asked what.

    settings: those of the run, with the models' tables of today. own: the model and the prompt that answer
    again are those that made the answers. reader: another model, to be priced in place of it. leads: of each
    system, the mean of the judge whose verdict a point is. support, refusal: tell whether contexts support an
    answer, and whether it refuses. model, prompt: what answers again; no model: nothing is asked of any.
    second: the second judge, and second_model the one that it asks; labels: what people say, in its place.
    stale: question id -> why its evidence is stale; unclear: why it is not certain where it is.
    """

    run: BlamedRun
    settings: Settings
    judge: Judge
    leads: list[MetricSummary]
    support: Judge
    refusal: Judge
    model: str | None
    prompt: str
    own: bool = False
    reader: str | None = None
    second: Judge | None = None
    second_model: str | None = None
    labels: list[Label] | None = None
    notes: list[str] = []
    stale: dict[str, str] = {}
    unclear: dict[str, str] = {}

    @property
    def maker(self) -> str | None:
        """The model that made the answers; None where another application did, or no model."""
        return None if self.run.of_sheet else _again(self.settings)[0]

    @property
    def reads_reference(self) -> bool:
        """Whether the judge compares with a reference; a function may take all references."""
        return not {"reference", "references"}.isdisjoint(self.judge.inputs)


def plan_blame(folder: Path, settings: Settings) -> BlamePlan:
    """Return the plan. Nothing has been asked, and nothing written, when it is refused.

    The run's own judges and prompts are asked: its manifest says which. Raises ConfigError for a judge that
    the run has not, for a second one that is the first, for judges or prompts that have changed since;
    DataError for a folder that is no run, one without questions, and where nothing was scored.
    """
    summary, manifest = read_summary(folder), read_manifest(folder / MANIFEST) or {}
    of_sheet = not manifest and not (folder / QUESTIONS).is_file()
    of_run, notes = (
        (_settings_of_sheet(settings, summary), []) if of_sheet else _settings_of_run(settings, manifest)
    )
    run = read_blamed(folder, summary, of_run, of_sheet)
    placed = check_evidence([*run.questions.values()], [*run.documents.values()])
    run = msgspec.structs.replace(run, questions={row.id: row for row in placed.questions})
    leads = _leads(run.summary, settings.blame.judge)
    judge = _judge_of(leads[0], of_run)
    beside = {m.metric: _beside(run.summary, m.metric, of_run) for m in run.summary.metrics}
    for judge_of in filter(None, [judge, *beside.values()]):
        _check_judge(manifest, judge_of)
    model, prompt = _again(of_run, settings.blame.model, settings.blame.prompt)
    own = (model, prompt) == _again(of_run) and not of_sheet
    reader = _reader(settings, model, own)
    _check_prompt(manifest, of_run, settings)
    _check_expected(run)
    second, labels = _second(settings, leads[0])
    second_model = settings.blame.second_model or of_run.judge.model
    if second is not None:
        _check_second(second, second.model_name(second_model or NO_MODEL), judge, leads[0])
    return BlamePlan(
        run=run,
        settings=of_run,
        judge=judge,
        leads=leads,
        support=beside.get(SUPPORT) or load_judge(FREE[SUPPORT]),
        refusal=beside.get(REFUSAL) or load_judge(FREE[REFUSAL]),
        model=model,
        prompt=prompt,
        own=own,
        reader=reader,
        second=second,
        second_model=second_model if second is not None and second.needs_model else None,
        labels=labels,
        notes=[*notes, *placed.notes()],
        stale={name: placed.because[name] for name in placed.stale},
        unclear={name: placed.because[name] for name, state in placed.states.items() if state == "unclear"},
    )


def read_blamed(folder: Path, summary: RunSummary, settings: Settings, of_sheet: bool) -> BlamedRun:
    """Return the rows of a run folder. Raises DataError."""
    answers = list(_rows(folder / "answers.jsonl", Answer))
    asked = questions_in(answers) if of_sheet else _rows(folder / QUESTIONS, Question)
    questions = {row.id: row for row in asked}
    judgements = list(_rows(folder / "judgements.jsonl", Judgement))
    for name, rows in (("answers", answers), ("judgements", judgements), ("questions", questions)):
        if not rows:
            raise DataError(
                f"{folder / name}.jsonl: no such rows, but blame is assigned per question. Name a folder "
                "that `ragstone judge` wrote, or `ragstone run` with [questions] path in its settings."
            )
    chunks_of: dict[str, list[Chunk]] = {}
    for chunk in _rows(folder / "chunks.jsonl", Chunk):
        chunks_of.setdefault(chunk.document_id, []).append(chunk)
    documents = {row.id: row for row in _rows(folder / "documents.jsonl", Document)}
    answers = _with_document_ids(answers, questions, documents)
    return BlamedRun(
        folder=folder,
        summary=summary,
        of_sheet=of_sheet,
        questions=questions,
        documents=documents,
        chunks_of=chunks_of,
        answers=answers,
        judgements=judgements,
        same=same_documents([*documents.values()], settings.documents.copies),
    )


def _with_document_ids(
    answers: Sequence[Answer], questions: Mapping[str, Question], documents: Mapping[str, Document]
) -> list[Answer]:
    """Return the answers with the ids of their contexts as those of documents, where they are that.

    An application may name its sources by `id` alone. These are documents only if no context of the run names
    its document, and each id is one of the corpus or of the documents that questions name: ids of chunks are
    not. Numbers are left alone, for those of chunks and of documents look the same.
    """
    contexts = [context for row in answers for context in row.contexts or ()]
    known = documents.keys() | {name for row in questions.values() for name in relevant_documents(row)}
    ids = {context.id for context in contexts if context.document_id is None}
    if any(context.document_id for context in contexts) or not ids or not ids <= known:
        return [*answers]
    if any(name.isdecimal() for name in ids if name):
        return [*answers]
    return [
        msgspec.structs.replace(
            row,
            contexts=[msgspec.structs.replace(context, document_id=context.id) for context in row.contexts],
        )
        if row.contexts
        else row
        for row in answers
    ]


def questions_in(answers: Iterable[Answer]) -> Iterator[Question]:
    """Yield the question that each answer carries, with what was said before it in a conversation.

    The documents that a row of a conversation names are those of its last reply, as its reference is. Raises
    DataError for documents that are no ids.
    """
    for row in answers:
        of_whole = conversation_of(row) is not None and row.reference is None
        columns = {} if of_whole else row.metadata or {}
        fields = {name: value for name, value in columns.items() if fold(name) in NAMING}
        fields |= {name: getattr(row, name) for name in ("reference", "answerable", "tags")}
        turns = row.turns or []
        at_last = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=0)
        before = [{"role": turn.role, "content": turn.content} for turn in turns[:at_last]]
        more = {"id": row.question_id, "question": row.question or "", THREAD: {"turns": before}}
        yield parse_row(fields | more, Question)


def _rows(path: Path, row_type: type[RowT]) -> Sequence[RowT]:
    return list(read_rows(path, row_type)) if path.is_file() else []


def _settings_of_run(settings: Settings, manifest: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """Return the settings that made the run as far as they decide here, and where today's differ."""
    tables = manifest.get("settings")
    if not isinstance(tables, dict):
        return settings, [
            "The run has no manifest.json, so the models and prompts of ragstone.toml are used."
        ]
    try:
        decisive = {name: msgspec.convert(tables[name], type(getattr(settings, name))) for name in DECISIVE}
        systems = {
            name: msgspec.convert(table, RagSystem | ExtractiveSystem)
            for name, table in tables.get("systems", {}).items()
            # Of others the manifest keeps no headers, and nothing is needed.
            if table.get("kind") in ("rag", "extractive")
        }
    except (KeyError, msgspec.ValidationError) as mistake:
        raise DataError(f"{MANIFEST}: not one of this version of Ragstone ({mistake}). Run again.") from None
    made = msgspec.structs.replace(settings, **decisive, systems={**settings.systems, **systems})
    changed = [
        f"[{table}] {key} is {now!r} today and was {then!r} in the run; the run's value is used."
        for table in ("answer", "judge")
        for key in ("model", "prompt")
        if (now := getattr(getattr(settings, table), key, None))
        != (then := getattr(getattr(made, table), key, None))
        and now is not None
        and then is not None
    ]
    return made, changed


def _settings_of_sheet(settings: Settings, summary: RunSummary) -> Settings:
    """Return the settings of a run of `ragstone judge`: of answers made elsewhere, judged by its model."""
    models = [row.model for row in summary.metrics if row.model != NO_MODEL and " + " not in row.model]
    if models and settings.judge.model not in models:
        settings = choose(settings, "judge", model=models[0])
    return choose(settings, "answer", sheet="answers.jsonl")


def _leads(summary: RunSummary, wanted: str | None) -> list[MetricSummary]:
    """Return one mean a system, all by one judge: the wanted one, else the headline of the run."""
    scored = [row for row in summary.metrics if row.estimate is not None]
    if not scored:
        why = unscored_note(summary.metrics)
        raise DataError(f"{summary.name}: no judgement has a score, so no point is lost or kept. {why}")
    if wanted is None:
        lead = next(row for row in headlines(summary) if row.estimate is not None)
    else:
        names = [row.judge for row in scored]
        if wanted not in names:
            raise ConfigError(
                f"[blame] judge = {wanted!r}: the run has no scores of it. "
                f"{nearest(wanted, list(dict.fromkeys(names)))}"
            )
        lead = scored[names.index(wanted)]
    key = (lead.judge, lead.metric, lead.model)
    return [row for row in scored if (row.judge, row.metric, row.model) == key]


def _judge_of(lead: MetricSummary, settings: Settings) -> Judge:
    """Return the judge that gave these scores, to be asked again. Raises ConfigError where it has changed."""
    name = lead.judge.removesuffix(JOINT_SUFFIX)
    named = {str(name_of): name_of for name_of in map(settings.named, settings.judge.judges)}
    judges = (load_judge(name_of) for key, name_of in named.items() if ".toml" in key or names_function(key))
    fix = "Name its file in judges of [judge] in ragstone.toml."
    with explaining(f"{name}, the judge of this run", fix, ConfigError, error=ConfigError):
        judge = next((name_of for name_of in judges if name_of.name == name), None) or load_judge(name)
    if judge.best == "lowest":
        raise ConfigError(f"{name}: its lowest score is the best. Name another judge as [blame] judge.")
    asks = judge.model_name(settings.judge.model or NO_MODEL)
    if judge.prompt_version != lead.prompt_version:
        raise ConfigError(
            f"{name}: the run was judged by version {lead.prompt_version}, today it is "
            f"{judge.prompt_version}, so their scores cannot be compared. Run again, then blame."
        )
    if asks != lead.model:
        raise ConfigError(
            f"{name}: the run was judged by {lead.model}, and [judge] model says {asks}. Give the "
            "settings of the run with --config."
        )
    return judge


def _beside(summary: RunSummary, metric: str, settings: Settings) -> Judge | None:
    """Return the judge of another metric of the run, one that asks a model before one that asks none."""
    if metric not in FREE:
        return None
    rows = [row for row in summary.metrics if row.metric == metric and row.estimate is not None]
    rows = sorted(rows, key=lambda row: row.model == NO_MODEL)
    return _judge_of(rows[0], settings) if rows else None


def _again(of_run: Settings, model: str | None = None, prompt: str | None = None) -> tuple[str | None, str]:
    """Return the model and the prompt that answer again: these, else those that answered.

    The model is None where another application answered.
    """
    answer = of_run.answer
    own_model, own_prompt = answer.model, answer.prompt
    if answer.sheet:
        own_model = None
    elif answer.system:
        system = of_run.systems.get(answer.system)
        own = system if isinstance(system, RagSystem) else None
        own_model = (own.model or own_model) if own else None
        own_prompt = (own.prompt or own_prompt) if own else own_prompt
    return model or own_model, prompt or own_prompt


def _reader(settings: Settings, model: str | None, own: bool) -> str | None:
    """Return the model to price in place of the one that answered: the declared one, else one that answers
    again but did not answer.
    """
    declared = settings.blame
    if declared.reader and not declared.what_if:
        raise ConfigError(
            f"[blame] reader = {declared.reader!r}: its price needs answers that are asked again. Say of how "
            "many, e.g. what_if = 100, or --what-if 100."
        )
    if declared.reader and own and declared.reader == model:
        raise ConfigError(
            f"[blame] reader = {declared.reader!r}: that model made the answers. Name another one, "
            "or remove reader."
        )
    other = None if own else model
    return (declared.reader or other) if declared.what_if else None


def _check_judge(manifest: Mapping[str, Any], judge: JudgeFields) -> None:
    """Refuse a judge that is not any more what the run was judged by, though its version is the same."""
    made = manifest.get("judges", {}).get(judge.name)
    if made is not None and made["digest"] != digest_of(judge):
        raise ConfigError(
            f"judge {judge.name}: it has changed since the run, so its scores cannot be compared. Run "
            "again, then blame."
        )


def _check_prompt(manifest: Mapping[str, Any], of_run: Settings, settings: Settings) -> None:
    """Refuse a prompt that is not any more what the run was made with, unless another one is asked for."""
    made = manifest.get("prompt")
    if settings.blame.prompt is not None or not isinstance(made, dict):
        return
    now = load_prompt(of_run.named(of_run.answer.prompt))
    if made.get("name") == now.name and digest_of(now) != made.get("digest"):
        raise ConfigError(
            f"prompt {now.name}: it has changed since the run. Run again, or name one as [blame] prompt."
        )


def _check_expected(run: BlamedRun) -> None:
    """Refuse rows with steps whose expected steps cannot be read, all that are so together."""
    wrong: dict[str, str] = {}
    for row in with_columns(run.answers, run.questions):
        try:
            read_steps(row)
        except ValueError as mistake:
            wrong.setdefault(row.question_id, str(mistake))
    if wrong:
        lines = "\n".join(f"  {name}: {mistake}" for name, mistake in [*wrong.items()][:SHOWN_ERRORS])
        raise DataError(
            f"{run.folder}: the expected steps of {plural(len(wrong), 'question')} cannot be read. Write "
            f"them as a list of calls such as {FORM}, and run again.\n{lines}"
        )


def _second(settings: Settings, lead: MetricSummary) -> tuple[Judge | None, list[Label] | None]:
    """Return the second opinion that is declared: a judge, or people's labels, or neither."""
    declared = settings.blame
    if declared.second and declared.labels:
        raise ConfigError("[blame] second and labels: one second opinion is enough. Remove one of the two.")
    if declared.second:
        return load_judge(settings.named(declared.second)), None
    path, of_agree = declared.labels or settings.agree.labels, declared.labels is None
    if path is None:
        return None, None
    metric = settings.agree.metric if of_agree else None
    labels = [
        msgspec.structs.replace(row, metric=row.metric or metric)
        for row in read_rows(settings.path(path), Label)
    ]
    if of_agree and not any(row.metric in (None, lead.metric) for row in labels):
        return None, None
    return None, labels


def _check_second(second: Judge, asks: str, judge: Judge, lead: MetricSummary) -> None:
    if (second.name, asks) == (judge.name, lead.model):
        raise ConfigError(
            f"[blame] second = {second.name!r}: it is the judge being checked, with the same model. Name "
            "another judge, or another model as second_model."
        )
    if second.measures != lead.metric:
        raise ConfigError(
            f"[blame] second = {second.name!r} measures {second.measures}, and {judge.name} measures "
            f"{lead.metric}: a difference between them would mean nothing. Name a judge of {lead.metric}."
        )


def may_ask(plan: BlamePlan, judge: Judge) -> bool:
    """Return whether a judge can be asked: without a model to answer again, only those that need none are."""
    return bool(plan.model or plan.reader) or not judge.needs_model
