"""Documents -> an evaluation set of questions, written, checked and criticised, as many as are wanted."""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.build._built import Built
from ragstone.features.build._critic import load_critics
from ragstone.features.build._defects import measure_critics, plant_defects
from ragstone.features.build._extras import add_extras
from ragstone.features.build._filling import (
    STEPS,
    BuildSteps,
    WritingTask,
    WritingTools,
    WrittenCandidates,
    all_lost,
    built_of,
    count_accepted,
    criticise_candidate,
    fill,
    sift_questions,
)
from ragstone.features.build._forecasting import forecast_build
from ragstone.features.build._plan import Cut, Order, cut_passages, plan_orders, shuffled
from ragstone.features.build._session import build_in_session, document_id_of
from ragstone.features.build._styles import DialogueTurn, load_style, turns_of
from ragstone.features.build._writing import write_questions
from ragstone.features.build.certificate.page import EvaluationSet
from ragstone.kernel.config import BuildSection, Sampling, Settings, choose, load_settings
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.dataset.certificate import CriticMeasured
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions
from ragstone.kernel.errors import ConfigError, ModelError, takes_rows
from ragstone.kernel.llm import Ask, parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.llm.prompt import sampled
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.stages.given import Taggable

SWEEPS = 4  # how often a document is asked, at most, until it has given what is wanted of it
EVEN_SWEEPS = 2  # of them, those in which no document gives more than its share
FRAME_TOKENS = 2000  # of a call, beside the passages: instructions, what is to be avoided, reply
LEAST_PASSAGE = 200


async def build_rows(rows: Sequence[Taggable], session: Session, steps: BuildSteps = STEPS) -> Built:
    """Return what is built of documents or chunks, as `[build]` of the session's settings declares.

    Raises ConfigError for declarations that cannot be followed, ModelError without a model.
    """
    tools = await open_tools(session, steps)
    turns = declared_turns(tools.declared, session.settings)
    longest = longest_passage(tools.declared, session)
    cut = cut_passages(rows, longest)
    made = await add_extras(WrittenCandidates(), cut.passages, tools)
    made = await _add_questions(made, cut, turns, tools)
    document_ids = list(dict.fromkeys(map(document_id_of, rows)))
    position = {document_id: n for n, document_id in enumerate(document_ids)}
    candidates = sorted(made.candidates, key=lambda candidate: position[candidate.passages[0].document_id])
    measured = await _measure(candidates, tools)
    tools = msgspec.structs.replace(tools, declared=msgspec.structs.replace(tools.declared, passage=longest))
    made = msgspec.structs.replace(made, candidates=candidates)
    return built_of("questions", made, cut, document_ids, tools, critics=measured)


def declared_turns(declared: BuildSection, settings: Settings) -> list[DialogueTurn]:
    """Return the turns of the declared styles. Raises ConfigError for a style that cannot take one."""
    styles = [load_style(settings.named(name)) for name in declared.styles]
    if not styles:
        raise ConfigError('styles = [] under [build]: name at least one, e.g. styles = ["factoid"]')
    for style in styles:
        if style.needs == "two_passages":
            raise ConfigError(
                f"the style {style.name!r} takes two documents: say how many such questions you want with "
                "--multi-hop N, or multi_hop = N under [build]."
            )
    return [turn for style in styles for turn in turns_of(style, declared)]


async def open_writer(session: Session, what: str) -> tuple[Ask, str]:
    """Return what asks the model that writes, and its name as the ledger knows it. Raises ModelError."""
    declared = session.settings.build
    if declared.model is None:
        raise ModelError(
            f"a build asks a model to write {what}. Name one with --model, e.g. openai/gpt-4o-mini, or as "
            "model in the table [build] of ragstone.toml."
        )
    write = sampled(await session.models.ask(declared.model), Sampling(temperature=declared.temperature))
    return write, (await session.models.door(declared.model)).endpoint.identity


async def open_tools(session: Session, steps: BuildSteps) -> WritingTools:
    """Return the tools of a build. Raises ConfigError, ModelError."""
    declared = session.settings.build
    write, model = await open_writer(session, "questions")
    if declared.count is not None and declared.negatives + declared.multi_hop > declared.count:
        raise ConfigError(
            f"{declared.negatives} negatives and {declared.multi_hop} multi-hop questions are more than the "
            f"{declared.count} questions wanted in all: raise --count, or ask for fewer."
        )
    critics = load_critics(session.settings.named(name) for name in declared.critics)
    critic = declared.critic_model or declared.model or ""
    return WritingTools(
        session=session,
        declared=declared,
        write=write,
        criticise=await session.models.ask(critic),
        models={"writer": model, "critic": (await session.models.door(critic)).endpoint.identity},
        secret=session.secret(),
        critics=critics,
        seed=session.settings.run.seed,
        steps=steps,
    )


def longest_passage(declared: BuildSection, session: Session) -> int:
    """Return the most characters of a passage: those declared, or fewer where a model's context is small.

    A character is counted as a token, as it may be in scripts that a model knows little of. Raises
    ConfigError for a context in which no passage has room.
    """
    models = {name for name in (declared.model, declared.critic_model) if name is not None}
    n_at_once = declared.hops if declared.multi_hop else 1
    room = min((session.models.context_tokens(model) - FRAME_TOKENS) // n_at_once for model in models)
    if room < LEAST_PASSAGE:
        raise ConfigError(
            f"{', '.join(sorted(models))}: the context has no room for the instructions and a passage of "
            f"{LEAST_PASSAGE} characters. Raise context_tokens in the model's table, if it has more."
        )
    return min(declared.passage, room)


async def _add_questions(
    made: WrittenCandidates, cut: Cut, turns: Sequence[DialogueTurn], tools: WritingTools
) -> WrittenCandidates:
    """Return what there is with each document's questions, or as many in all as are wanted."""
    declared = tools.declared
    document_ids = list(dict.fromkeys(passage.document_id for passage in cut.passages))
    sift = functools.partial(sift_questions, tools=tools)
    if declared.count is None:
        wanted = dict.fromkeys(document_ids, declared.per_document)
        orders = plan_orders(cut.passages, turns, wanted, seed=tools.seed)
        return await fill(made, _tasks(orders, tools), None, tools.session, sift)
    document_ids = shuffled(document_ids, tools.seed)
    n_passages = Counter(passage.document_id for passage in cut.passages)
    most = {name: n * declared.per_document for name, n in n_passages.items()}
    for sweep in range(SWEEPS):
        accepted, written = _by_document(made)
        n_needed = declared.count - count_accepted(made)
        wanted = _wanted(most, accepted, document_ids, n_needed, declared, even=sweep < EVEN_SWEEPS)
        if n_needed <= 0 or not wanted or all_lost(made):
            break
        orders = plan_orders(cut.passages, turns, wanted, seed=tools.seed, sample=sweep, written=written)
        made = await fill(made, _tasks(orders, tools), n_needed, tools.session, sift)
    return made


def _wanted(
    most: Mapping[str, int],
    accepted: Mapping[str, int],
    document_ids: Sequence[str],
    n_needed: int,
    declared: BuildSection,
    *,
    even: bool,
) -> dict[str, int]:
    """Return how many questions each document is asked for, in their order; none of those that gave enough.

    most: of each document. even: no more than its share of all; else `per_document`, or what is needed.
    """
    n_documents = max(1, len(document_ids))
    share, more = -(-(declared.count or 0) // n_documents), -(-n_needed // n_documents)
    wanted = {}
    for name in document_ids:
        n = accepted.get(name, 0)
        limit = share if even else max(declared.per_document, n + more)
        wanted[name] = min(most[name], limit) - n
    return {name: n for name, n in wanted.items() if n > 0}


def _tasks(orders: Sequence[Order], tools: WritingTools) -> list[WritingTask]:
    return [
        WritingTask(
            order.n,
            functools.partial(
                write_questions,
                (order.passage,),
                order.turn,
                order.n,
                audience=tools.declared.audience,
                ask=tools.write,
                secret=tools.secret,
                avoid=order.avoid,
                sample=order.sample,
            ),
        )
        for order in orders
    ]


def _by_document(made: WrittenCandidates) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Return how many questions of each document are accepted, and all its questions, the lost too."""
    accepted: dict[str, int] = {}
    written: dict[str, list[str]] = {}
    for candidate in made.candidates:
        name = candidate.passages[0].document_id
        accepted[name] = accepted.get(name, 0) + (candidate.loss is None)
        written.setdefault(name, []).append(candidate.question.question)
    return accepted, written


async def _measure(candidates: Sequence[Candidate], tools: WritingTools) -> list[CriticMeasured]:
    """Return how well the critics find defects that are planted into candidates which they have seen."""
    declared = tools.declared
    if not (tools.critics and declared.planted):
        return []
    planted = plant_defects(candidates, declared.planted, tools.seed)
    work = functools.partial(criticise_candidate, tools=tools)
    criticised = await tools.session.each("planted defects", work, [defect.planted for defect in planted])
    return measure_critics(list(zip(planted, criticised, strict=True)), tools.critics, declared.threshold)


ASSUMPTION = (
    "Assumes that every question is written and kept. Questions lost to checks save their critics' calls, "
    "and with a count cost new ones."
)


@takes_rows(documents=(Document, Chunk))
def build_questions(
    documents: Sequence[Taggable],
    *,
    model: str | None = None,
    count: int | None = None,
    settings: Settings | None = None,
    output: Path | str | None = None,
    force: bool = False,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> EvaluationSet:
    """Return an evaluation set built from documents or chunks, as `[build]` of the settings declares.

    model and count: in place of those of `[build]`. output: where the questions are written, with the
    other files of the build (see build/files.py); without it nothing is written. budget: e.g. `500calls`;
    deadline: e.g. `30m`: what they cut off is counted as lost.

    Raises ConfigError for declarations that cannot be followed; DataError where a file cannot be written;
    ModelError without a model, or when no call can succeed.
    """
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    settings = choose(settings or load_settings(), "build", model=model, count=count)
    if settings.build.fictional and output is None:
        raise ConfigError("a fictional variant is written to files: give an output.")
    return build_in_session(documents, build_rows, settings, output=output, force=force, how=how)


def forecast_questions(rows: Sequence[Taggable], settings: Settings) -> Forecast:
    """Return what a build would ask of models. Raises what `build_questions` raises before a call."""
    return forecast_build(rows, build_rows, settings, ASSUMPTION)
