"""Documents -> true statements, and false ones on request, and their files."""

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.build._built import Built, noted
from ragstone.features.build._fact_writing import facts_wanted
from ragstone.features.build._falsifying import (
    Falsified,
    Truths,
    normal_form,
    plan_changes,
)
from ragstone.features.build._filling import (
    STEPS,
    BuildSteps,
    WritingTask,
    WritingTools,
    WrittenCandidates,
    built_of,
    fill,
)
from ragstone.features.build._forecasting import forecast_build
from ragstone.features.build._losses import lose, mark_repeats
from ragstone.features.build._plan import Cut, choose_passages, cut_passages, own_rng, shuffled
from ragstone.features.build._session import build_in_session, document_id_of
from ragstone.features.build.certificate.page import EvaluationSet
from ragstone.features.build.files import give_ids
from ragstone.features.build.questions import longest_passage, open_writer
from ragstone.kernel.config import BuildSection, Settings, choose, load_settings
from ragstone.kernel.config.datasets import Change
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions
from ragstone.kernel.errors import ConfigError, nearest, takes_rows
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.stages.given import Taggable


async def build_fact_rows(rows: Sequence[Taggable], session: Session, steps: BuildSteps = STEPS) -> Built:
    """Return the facts of documents or chunks, as `[build]` of the session's settings declares.

    The candidates stand in the order of the documents, each false statement behind its true one. Raises
    ModelError without a model.
    """
    declared = session.settings.build
    write, model = await open_writer(session, "facts")
    tools = WritingTools(
        session=session,
        declared=declared,
        write=write,
        models={"writer": model},
        secret=session.secret(),
        seed=session.settings.run.seed,
        steps=steps,
    )
    cut = cut_passages(rows, longest_passage(declared, session))
    document_ids = list(dict.fromkeys(map(document_id_of, rows)))
    position = {document_id: n for n, document_id in enumerate(document_ids)}

    async def sift(candidates: list[Candidate], start: int) -> list[Candidate]:
        return list(map(steps.settle, mark_repeats(candidates)[start:]))

    tasks = [
        WritingTask(n, functools.partial(steps.write_facts, passage, n, ask=write, secret=tools.secret))
        for passage, n in plan_facts(cut.passages, declared, tools.seed)
    ]
    made = await fill(WrittenCandidates(), tasks, declared.count, session, sift)
    truths = sorted(made.candidates, key=lambda candidate: position[candidate.passages[0].document_id])
    made = await _with_false(msgspec.structs.replace(made, candidates=truths), cut, tools)
    return built_of("facts", made, cut, document_ids, tools)


def plan_facts(
    passages: Sequence[SourcePassage], declared: BuildSection, seed: int
) -> list[tuple[SourcePassage, int]]:
    """Return which passages are shown, and how many facts each is asked for, a call for each.

    In the order of the documents; where a number of facts is wanted, in an order of the seed.
    """
    of_document: dict[str, list[SourcePassage]] = defaultdict(list)
    for passage in passages:
        of_document[passage.document_id].append(passage)
    order = shuffled(list(of_document), seed) if declared.count else list(of_document)
    return [
        chosen
        for document_id in order
        for chosen in choose_passages(
            of_document[document_id],
            facts_wanted(of_document[document_id][0].document_length, declared.facts.lengths),
            own_rng(seed, document_id),
        )
    ]


async def _with_false(made: WrittenCandidates, cut: Cut, tools: WritingTools) -> WrittenCandidates:
    """Return what there is with ids, and behind each accepted statement the false ones made of it."""
    kinds = tools.declared.facts.falsify
    places = [at for at, truth in enumerate(made.candidates) if truth.loss is None] if kinds else []
    statements = [made.candidates[at] for at in places]
    wanted = {statement.passages[0].document_id for statement in statements}
    texts: dict[str, list[str]] = defaultdict(list)
    for passage in cut.passages:
        if passage.document_id in wanted:
            texts[passage.document_id].append(normal_form(passage.text))
    truths = Truths(
        statements={normal_form(statement.question.question) for statement in statements},
        documents={document_id: " ".join(some) for document_id, some in texts.items()},
    )

    async def work(planned: tuple[Candidate, list[Change]]) -> Falsified:
        truth, plan = planned
        falsify = tools.steps.falsify
        return await falsify(truth, plan, truths, seed=tools.seed, ask=tools.write, secret=tools.secret)

    planned = list(zip(statements, plan_changes(statements, kinds, truths, tools.seed), strict=True))
    made_false = await tools.session.each("falsify", work, planned) if planned else []
    return WrittenCandidates(
        candidates=_paired(made.candidates, dict(zip(places, _without_twins(made_false), strict=True))),
        failed=made.failed + [loss for falsified in made_false for loss in falsified.failed],
        n_asked=made.n_asked + sum(falsified.n_asked for falsified in made_false),
    )


def _paired(truths: Sequence[Candidate], of_truth: Mapping[int, Sequence[Candidate]]) -> list[Candidate]:
    """Return all with ids, the false ones behind the true one at their place and with its id as `sibling`."""
    paired = [
        (at, candidate) for at, truth in enumerate(truths) for candidate in (truth, *of_truth.get(at, ()))
    ]
    true_id: dict[int, str] = {}
    result = []
    for (at, _), candidate in zip(paired, give_ids(candidate for _, candidate in paired), strict=True):
        known = true_id.setdefault(at, candidate.question.id)
        result.append(candidate if known == candidate.question.id else noted(candidate, sibling=known))
    return result


def _without_twins(made: Sequence[Falsified]) -> list[list[Candidate]]:
    """Return the false statements of each true one; one that is as an earlier one is lost."""
    seen: dict[str, str] = {}
    result = []
    for falsified in made:
        candidates = []
        for candidate in falsified.candidates:
            text = normal_form(candidate.question.question)
            if candidate.loss is None and text in seen:
                candidate = lose(candidate, "duplicate", seen[text])
            elif candidate.loss is None:
                seen[text] = candidate.question.question
            candidates.append(candidate)
        result.append(candidates)
    return result


CHANGES: tuple[Change, ...] = ("number", "entity", "negation", "relation")
ASSUMPTION = (
    "Assumes that every statement is kept, has no number, and is false at the first change. Lost statements "
    "and numbers save calls; second changes and a count add some."
)


@takes_rows(documents=(Document, Chunk))
def build_facts(
    documents: Sequence[Taggable],
    *,
    model: str | None = None,
    falsify: Sequence[str] | None = None,
    count: int | None = None,
    settings: Settings | None = None,
    output: Path | str | None = None,
    force: bool = False,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> EvaluationSet:
    """Return true statements about documents or chunks, and false ones where `falsify` names changes.

    falsify: of `number`, `entity`, `negation`, `relation`. count: true statements in all, each with its false
    sibling. These and the model: in place of those of `[build]`. output: where the statements are written,
    with the other files of the build (see build/files.py); without it nothing is written. budget: e.g.
    `500calls`; deadline: e.g. `30m`: what they cut off is counted.

    Raises ConfigError for a change that does not exist or a count below 1; DataError without documents, or
    where a file cannot be written; ModelError without a model, or when no call can succeed.
    """
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    chosen = with_changes(settings or load_settings(), falsify)
    if count is not None and count < 1:
        raise ConfigError(f"count {count}: give the number of true statements wanted, 1 or more.")
    chosen = choose(chosen, "build", model=model, count=count)
    return build_in_session(documents, build_fact_rows, chosen, output=output, force=force, how=how)


def forecast_facts(rows: Sequence[Taggable], settings: Settings) -> Forecast:
    """Return what a build would ask of models. Raises what `build_facts` raises before a call."""
    return forecast_build(rows, build_fact_rows, settings, ASSUMPTION)


def with_changes(settings: Settings, names: Sequence[str] | None) -> Settings:
    """Return the settings with these kinds of change; None leaves them. Raises ConfigError for another."""
    if names is None:
        return settings
    for name in names:
        if name not in CHANGES:
            raise ConfigError(f"unknown change {name!r}. {nearest(name, CHANGES)}")
    facts = msgspec.structs.replace(settings.build.facts, falsify=list(names))
    return choose(settings, "build", facts=facts)
