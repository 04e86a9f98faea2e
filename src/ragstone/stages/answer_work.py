"""What answers one question: the work of the stage `answer`, which any process can take up."""

from collections.abc import Awaitable, Callable

import msgspec

from ragstone.config import Sampling
from ragstone.engine.mapping import on_cluster
from ragstone.engine.row_work import RowWork
from ragstone.engine.session import Session
from ragstone.errors import ConfigError
from ragstone.llm.prompt import sampled
from ragstone.records import Answer, Context, Question
from ragstone.stages.systems import Asked, open_system
from ragstone.systems.chosen import system_of
from ragstone.systems.function import Callee, callee_of
from ragstone.systems.prompting import load_prompt
from ragstone.systems.rag import answer_question


class Given(msgspec.Struct, frozen=True, array_like=True):
    """A question, and what it is answered from."""

    question: Question
    contexts: list[Context]


async def _built_in(
    session: Session, *, model: str, prompt: str, system: str, sampling: Sampling
) -> Callable[[Given], Awaitable[Answer]]:
    ask, secret = sampled(await session.models.ask(model), sampling), session.secret()
    told = load_prompt(session.settings.named(prompt))

    async def work(given: Given) -> Answer:
        return await answer_question(given.question, given.contexts, told, ask, system=system, secret=secret)

    return work


async def _application(session: Session, *, system: str) -> Callable[[Question], Awaitable[Answer]]:
    declared: Asked = system_of(system, session.settings)  # type: ignore[assignment]  # the others ask nobody
    return (await open_system(system, declared, session)).answer


BUILT_IN: RowWork[Given, Answer] = RowWork(
    f"{__name__}:BUILT_IN",
    Given,
    Answer,
    {"model": str, "prompt": str, "system": str, "sampling": Sampling},
    _built_in,
)


APPLICATION: RowWork[Question, Answer] = RowWork(
    f"{__name__}:APPLICATION", Question, Answer, {"system": str}, _application
)


def check_importable(name: str, session: Session) -> None:
    """Refuse a callable that workers of a cluster could not import. Raises ConfigError."""
    callee = session.callables.get(name)
    if callee is None or not on_cluster(session):
        return
    if not _is_found(name, callee):
        raise ConfigError(
            f"system {name}: --engine ray sends rows to other processes, which cannot import this callable. "
            "Put it into a module, as a function of its own name, and give module:function; or leave "
            "--engine ray away."
        )


def _is_found(name: str, callee: Callee) -> bool:
    """Return whether a module has the callable under its name, so that another process finds the same."""
    module = name.partition(":")[0]
    return module not in ("?", "__main__") and callee.identity == callee_of(callee.function)[1].identity
