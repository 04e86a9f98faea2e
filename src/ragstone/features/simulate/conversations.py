"""Stage: simulated users -> conversations with an application, a row each."""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.simulate._persona import Persona, load_personas, parse_personas
from ragstone.features.simulate._speaking import UserMove, next_of_model, next_of_script
from ragstone.features.simulate._talk import Talk
from ragstone.kernel.config import HttpSystem, Settings, SheetSystem, choose, load_settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, run_in_session
from ragstone.kernel.errors import ConfigError, takes_rows
from ragstone.kernel.llm import CallFailed, parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.llm.limits import GivenUp
from ragstone.kernel.records import Answer, Chunk, Document
from ragstone.kernel.stages.answer import answer_rows
from ragstone.kernel.stages.answer_notes import kept_notes, system_notes
from ragstone.kernel.stages.corpus import load_corpus
from ragstone.kernel.stages.retrieve import rank_questions
from ragstone.kernel.systems.chosen import chosen_system, searches, system_of, with_system
from ragstone.kernel.tables import Rows

LOG = logging.getLogger(__name__)
ASSUMPTION = "Each conversation is counted until the user's script or patience ends; most end earlier."


class UserPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Who talks to the application. model: that speaks for those without a script; samples: of each persona.

    to_the_end: for a forecast: no goal is met, so that all calls are counted that there can be.
    """

    personas: list[Persona]
    model: str | None = None
    samples: int = 1
    to_the_end: bool = False


def plan_users(
    users: Path | str | Sequence[Mapping[str, Any]],
    settings: Settings,
    *,
    model: str | None = None,
    samples: int = 1,
    limit: int | None = None,
) -> UserPlan:
    """Return who talks to the application. users: a file of personas, or its tables; limit: the first ones.

    Raises ConfigError for a file that is wrong, a user for whom nobody speaks, and a system that cannot talk.
    """
    if isinstance(users, str | Path):
        personas = load_personas(Path(users))[:limit]
    else:
        personas = parse_personas(list(users), Path("users"))[:limit]
    silent_one = next((persona.name for persona in personas if persona.script is None), None)
    if silent_one is not None and model is None:
        raise ConfigError(
            f"the persona {silent_one!r} has no script. Name the model that plays it with "
            "--user-model, or write its turns as `script`."
        )
    if silent_one is None and model is not None:
        raise ConfigError("every persona has a script, so --user-model is not needed: leave it out.")
    if samples < 1:
        raise ConfigError(f"samples = {samples}: each persona talks at least once.")
    name = settings.answer.system
    if name is not None and isinstance(system_of(name, settings), SheetSystem):
        raise ConfigError(f"system {name}: answers made earlier cannot talk to a user. Name an application.")
    return UserPlan(personas=personas, model=model, samples=samples)


async def conversation_rows(
    plan: UserPlan,
    session: Session,
    *,
    chunks: Sequence[Chunk] = (),
    documents: Sequence[Document] = (),
    from_ledger: Counter[str] | None = None,
) -> AsyncIterator[Answer]:
    """Yield a row for each conversation, persona by persona, each with its samples.

    All go on at once, turn by turn: every user speaks, then every user is answered. The application is that
    of `[answer]`. chunks, documents: what the built-in ones answer from. One that fails ends with an `error`
    and what was said so far. Raises ConfigError where batches are asked for, and what answer_rows raises.
    """
    if session.batching:
        raise ConfigError("a conversation waits for every reply, and a batch takes hours: leave out --batch.")
    talks = _begun(plan, session.settings)
    speak = await _speaker(plan, session)
    talking, searching = talks, bool(chunks) and searches(session.settings)
    while talking:
        await speak(talking)
        talking = [talk for talk in talking if talk.ended is None]
        questions = [talk.question() for talk in talking]
        rankings = await rank_questions(questions, chunks, session, documents=documents) if searching else []
        replies = answer_rows(
            questions, rankings, chunks, session, documents=documents, from_ledger=from_ledger
        )
        at = 0
        async for reply in replies:
            talking[at].hear(reply)
            if plan.to_the_end and talking[at].ended == "goal":
                talking[at].ended = None
            at += 1
        talking = [talk for talk in talking if talk.ended is None]
    for talk in talks:
        yield talk.row(session.settings.answer.system or "")


def _begun(plan: UserPlan, settings: Settings) -> list[Talk]:
    name = settings.answer.system
    declared = system_of(name, settings) if name is not None else None
    named_there = isinstance(declared, HttpSystem) and declared.conversation_id is not None
    talks = []
    for persona in plan.personas:
        for sample in range(plan.samples):
            name = persona.name if sample == 0 else f"{persona.name}~{sample + 1}"
            thread_id = None if named_there else name
            talks.append(Talk(id=name, persona=persona, sample=sample, thread_id=thread_id))
    return talks


async def _speaker(plan: UserPlan, session: Session) -> Callable[[Sequence[Talk]], Any]:
    """Return what lets every user say the next thing."""
    ask = await session.models.ask(plan.model) if plan.model is not None else None
    secret = session.secret() if ask is not None else b""

    async def by_model(talk: Talk) -> None:
        assert ask is not None
        try:
            move = await next_of_model(
                talk.persona,
                talk.turns,
                ask=ask,
                secret=secret,
                sample=talk.sample,
                drawn=plan.samples > 1,
            )
        except (CallFailed, GivenUp) as failure:
            status = failure.status if isinstance(failure, CallFailed) else "error"
            talk.ended, talk.error = "error", f"{status}: the model that plays the user: {failure}"
            return
        talk.speak(msgspec.structs.replace(move, goal_met=False) if plan.to_the_end else move)

    async def speak(talks: Sequence[Talk]) -> None:
        asking = []
        for talk in talks:
            if talk.persona.script is not None:
                talk.speak(next_of_script(talk.persona, talk.turns))
            elif talk.n_turns >= talk.persona.patience and talk.persona.goal_met is not None:
                talk.speak(UserMove())  # whose words nobody would hear
            else:
                asking.append(talk)
        if asking:
            await session.each("users", by_model, asking)

    return speak


def conversation_notes(
    rows: Sequence[Answer], from_ledger: Mapping[str, int], settings: Settings
) -> list[str]:
    """Return what to know of conversations: those that failed, and replies that the ledger had."""
    replies = [row for row in rows for turn in row.turns or () if turn.role == "assistant"]
    return [*system_notes(rows, {}, settings), *kept_notes(replies, from_ledger, settings)]


def forecast_users(plan: UserPlan, settings: Settings) -> Forecast:
    """Return the most that conversations would ask. Raises what conversation_rows raises before a call."""
    settings = with_system(settings)

    async def work(session: Session) -> None:
        corpus = load_corpus(settings, session.embedder)
        session.forecaster.assume(ASSUMPTION)
        # Those with a script are asked for every fact.
        most = [
            msgspec.structs.replace(
                persona, script=[*persona.script, *(fact.value for fact in persona.facts.values())]
            )
            if persona.script is not None
            else persona
            for persona in plan.personas
        ]
        endless = msgspec.structs.replace(plan, personas=most, to_the_end=True)
        async for _row in conversation_rows(
            endless, session, chunks=corpus.chunks, documents=corpus.documents
        ):
            pass

    return forecast_of(settings, work)


@takes_rows(chunks=Chunk, documents=Document)
def converse(
    users: Path | str | Sequence[Mapping[str, Any]],
    *,
    system: str | Callable[..., object] | None = None,
    user_model: str | None = None,
    samples: int = 1,
    chunks: Sequence[Chunk] = (),
    documents: Sequence[Document] = (),
    model: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> Rows[Answer]:
    """Return a conversation of each simulated user with an application, as rows with `turns`.

    users: a file of personas, or its tables as dicts. system: as `answer` takes it; a callable whose
    parameter is named `messages` is given the whole conversation. user_model: speaks for the personas that
    have no script; samples: conversations of each persona. chunks, documents: what the built-in applications
    answer from. The metadata of a row: persona, goal_met (None where nobody can tell), n_turns, ended (goal,
    patience, silence, error). budget, deadline, offline: as for `answer`. Raises ConfigError for personas or
    a system that are wrong, ModelError when no call can succeed.
    """
    chosen = choose(settings or load_settings(), "answer", model=model)
    chosen, callables = chosen_system(chosen, system)
    chosen = with_system(chosen) if not callables else chosen
    plan = plan_users(users, chosen, model=user_model, samples=samples)
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)

    async def work(session: Session) -> Rows[Answer]:
        session.callables |= callables
        from_ledger: Counter[str] = Counter()
        made = conversation_rows(plan, session, chunks=chunks, documents=documents, from_ledger=from_ledger)
        rows = Rows([row async for row in made], Answer)
        for note in conversation_notes(rows, from_ledger, chosen):
            LOG.warning(note)
        return rows

    return run_in_session(chosen, how, work)
