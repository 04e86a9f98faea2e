"""Documents -> true statements, and false ones on request, and their files."""

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.build.certificate import EvaluationSet
from ragstone.features.build.fact_writing import Facts, facts_wanted, write_facts
from ragstone.features.build.falsifying import (
    ChangeReply,
    Falsified,
    Truths,
    check_prompt,
    falsify_fact,
    plan_changes,
    same_words,
)
from ragstone.features.build.filling import WritingTask, WritingTools, WrittenCandidates, built_of, fill
from ragstone.features.build.plan import Cut, choose_passages, cut_passages, own_rng, shuffled
from ragstone.features.build.questions import longest_passage, open_writer
from ragstone.features.build.session import build_in_session, document_id_of, forecast_build
from ragstone.kernel.config import BuildSection, Settings, choose, load_settings
from ragstone.kernel.config.datasets import Change
from ragstone.kernel.dataset.build_files import give_ids
from ragstone.kernel.dataset.candidate import Built, Candidate, SourcePassage, lose, noted
from ragstone.kernel.dataset.repeats import mark_repeats
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions
from ragstone.kernel.errors import ConfigError, nearest, takes_rows
from ragstone.kernel.llm import Ask, CallFailed, Prompt, Reply, parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.stages.given import Taggable


async def build_fact_rows(rows: Sequence[Taggable], session: Session, *, forecasting: bool = False) -> Built:
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
        forecasting=forecasting,
    )
    cut = cut_passages(rows, longest_passage(declared, session))
    document_ids = list(dict.fromkeys(map(document_id_of, rows)))
    place = {document_id: n for n, document_id in enumerate(document_ids)}
    made = await _true_facts(plan_facts(cut.passages, declared, tools.seed), tools)
    truths = sorted(made.candidates, key=lambda one: place[one.passages[0].document_id])
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
        shown
        for document_id in order
        for shown in choose_passages(
            of_document[document_id],
            facts_wanted(of_document[document_id][0].document_length, declared.facts.lengths),
            own_rng(seed, document_id),
        )
    ]


async def _true_facts(planned: Sequence[tuple[SourcePassage, int]], tools: WritingTools) -> WrittenCandidates:
    """Return the true statements of these calls; those beyond the number that is wanted are lost."""
    tasks = [WritingTask(n, functools.partial(_write, passage, n, tools)) for passage, n in planned]
    return await fill(WrittenCandidates(), tasks, tools.declared.count, tools.session, _sift)


async def _sift(candidates: list[Candidate], start: int) -> list[Candidate]:
    return [_revived(one) for one in mark_repeats(candidates)[start:]]


async def _write(passage: SourcePassage, n: int, tools: WritingTools) -> Facts:
    """Return the facts of a call; in a forecast, those of a made-up reply are marked as such."""
    if not tools.forecasting:
        return await write_facts(passage, n, ask=tools.write, secret=tools.secret)
    heard = _Heard(tools.write)
    facts = await write_facts(passage, n, ask=heard.ask, secret=tools.secret)
    if heard.made_up is None:
        return facts
    return Facts(candidates=[noted(one, made_up=True) for one in facts.candidates])


class _Heard:
    """An `ask` of a forecast. made_up: the first prompt whose reply is made up; others are not asked then."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.made_up: Prompt | None = None

    async def ask(self, prompt: Prompt) -> Reply:
        if self.made_up is not None:
            raise CallFailed("error", "a forecast does not know what would be asked now")
        reply = await self._ask(prompt)
        if not reply.usage.calls:
            self.made_up = prompt
        return reply


async def _with_false(made: WrittenCandidates, cut: Cut, tools: WritingTools) -> WrittenCandidates:
    """Return what there is with ids, and behind each accepted statement the false ones made of it."""
    kinds = tools.declared.facts.falsify
    places = [at for at, one in enumerate(made.candidates) if one.loss is None] if kinds else []
    statements = [made.candidates[at] for at in places]
    truths = _truths(statements, cut)

    async def work(planned: tuple[Candidate, list[Change]]) -> Falsified:
        truth, plan = planned
        if tools.forecasting:
            return await _foreseen(truth, plan, truths, tools)
        return await falsify_fact(truth, plan, truths, seed=tools.seed, ask=tools.write, secret=tools.secret)

    planned = list(zip(statements, plan_changes(statements, kinds, truths, tools.seed), strict=True))
    made_false = await tools.session.each("falsify", work, planned) if planned else []
    return WrittenCandidates(
        candidates=_paired(made.candidates, dict(zip(places, _without_twins(made_false), strict=True))),
        failed=made.failed + [loss for one in made_false for loss in one.failed],
        n_asked=made.n_asked + sum(one.n_asked for one in made_false),
    )


def _truths(statements: Sequence[Candidate], cut: Cut) -> Truths:
    """Return what a false statement may not say: true statements, and what stands in their documents."""
    wanted = {statement.passages[0].document_id for statement in statements}
    words: dict[str, list[str]] = defaultdict(list)
    for passage in cut.passages:
        if passage.document_id in wanted:
            words[passage.document_id].append(same_words(passage.text))
    return Truths(
        said={same_words(statement.question.question) for statement in statements},
        documents={document_id: " ".join(some) for document_id, some in words.items()},
    )


def _paired(truths: Sequence[Candidate], of_truth: Mapping[int, Sequence[Candidate]]) -> list[Candidate]:
    """Return all with ids, the false ones behind the true one at their place and with its id as `sibling`."""
    paired = [(at, one) for at, truth in enumerate(truths) for one in (truth, *of_truth.get(at, ()))]
    true_id: dict[int, str] = {}
    result = []
    for (at, _), one in zip(paired, give_ids(one for _, one in paired), strict=True):
        known = true_id.setdefault(at, one.question.id)
        result.append(one if known == one.question.id else noted(one, sibling=known))
    return result


def _without_twins(made: Sequence[Falsified]) -> list[list[Candidate]]:
    """Return the false statements of each true one; one that is as an earlier one is lost."""
    seen: dict[str, str] = {}
    result = []
    for falsified in made:
        candidates = []
        for one in falsified.candidates:
            words = same_words(one.question.question)
            if one.loss is None and words in seen:
                one = lose(one, "duplicate", seen[words])
            elif one.loss is None:
                seen[words] = one.question.question
            candidates.append(one)
        result.append(candidates)
    return result


async def _foreseen(
    truth: Candidate, plan: Sequence[Change], truths: Truths, tools: WritingTools
) -> Falsified:
    """Ask what making this statement false would ask, if the first change that is not known yet succeeds."""
    heard = _Heard(tools.write)
    done = await falsify_fact(truth, plan, truths, seed=tools.seed, ask=heard.ask, secret=tools.secret)
    if heard.made_up is not None and heard.made_up.reply is ChangeReply:
        await tools.write(check_prompt(truth, tools.secret))
    return done


def _revived(candidate: Candidate) -> Candidate:
    """Return the candidate without its loss, if nothing but a forecast has made it up."""
    made_up = (candidate.question.metadata or {}).get("made_up")
    return msgspec.structs.replace(candidate, loss=None) if made_up else candidate


CHANGES: tuple[Change, ...] = ("number", "entity", "negation", "relation")
ASSUMPTION = (
    "Every statement is taken to be kept, to hold no number, and to be false at the first change. Those that "
    "are lost, and numbers, save calls; a second change costs some, and so does a count."
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
    with all that belongs to them beside (see build_files.py); without it nothing is written. budget: e.g.
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
