"""An application that is a Python callable: sync ones run in threads; whatever becomes of them is told."""

import inspect
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.kernel.config import PythonSystem
from ragstone.kernel.config.python_function import (
    Function,
    call_within,
    load_object,
    module_digest,
    module_holding,
    raised,
)
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.llm import CallFailed, Message, Prompt
from ragstone.kernel.llm.failures import AppFailed
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Answer, Question, figure_of
from ragstone.kernel.systems._reply import SystemReply, completion_of
from ragstone.kernel.systems.rows import messages_of, thread_of
from ragstone.kernel.tables.reading import parse_row


class Callee(msgspec.Struct, frozen=True, kw_only=True):
    """A callable that answers questions.

    identity: what the ledger knows it by. takes: what it is called with.
    """

    function: Function
    identity: str
    takes: "Takes"

    def is_found(self, name: str) -> bool:
        """Return whether a module has the callable under its name, so that another process finds the same."""
        module = name.partition(":")[0]
        return module not in ("?", "__main__") and self.identity == callee_of(self.function)[1].identity


Takes = Literal["text", "row", "messages"]
"""What a callable is given: the question's text, the Question, or the conversation as messages of a chat."""
MESSAGES = "messages"  # the name of a parameter that takes them


def function_prompt(callee: Callee, question: Question, version: str) -> Prompt:
    """Return the call for a question: what the callable is given."""
    match callee.takes:
        case "text":
            content = question.question
        case "row":
            content = msgspec.json.encode(question).decode()
        case "messages":
            content = msgspec.json.encode(messages_of(question)).decode()
    return Prompt(messages=(Message("user", content),), version=version, sample=thread_of(question).sample)


async def load_callee(call: str, folder: Path, where: str) -> Callee:
    """Return what `module:function` names; the module is looked for in the folder too.

    Raises ConfigError where it cannot be imported, is not there, or cannot be called with a question.
    """
    function, module = load_object(call, folder, where)
    takes = _taken(function, call, where)
    assert callable(function)
    return Callee(function=function, identity=f"python/{call}#{module_digest(module)}", takes=takes)


def callee_of(function: Function) -> tuple[str, Callee]:
    """Return a name for a callable that is given as such, and what is to be known of it.

    The ledger knows one that its module has under its own name. Of any other (a lambda, a method, what a
    function returns, what a notebook defines) nobody can tell whether it is the same as before, so its
    answers are found again by nobody. Raises ConfigError for one that cannot be called with a question.
    """
    name, module = module_holding(function)
    digest = module_digest(module) if module else secrets.token_hex(8)
    takes = _taken(function, name, f"system = {name}")
    return name, Callee(function=function, identity=f"python/{name}#{digest}", takes=takes)


def _taken(function: object, name: str, where: str) -> Takes:
    """Return what a callable is called with. Raises ConfigError where it takes no single argument."""
    if not callable(function):
        raise ConfigError(f"{where}: {name} is not a function but a {type(function).__name__}.")
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):  # some of those written in C have none
        return "text"
    try:
        bound = signature.bind("question")
    except TypeError as mistake:
        raise ConfigError(
            f"{where}: {name}{signature} cannot be called with a question alone ({mistake})."
        ) from None
    first = signature.parameters[next(iter(bound.arguments))]
    wanted = first.annotation
    if wanted is Question or (isinstance(wanted, str) and wanted.rpartition(".")[2] == "Question"):
        return "row"
    return "messages" if first.name == MESSAGES else "text"


@asynccontextmanager
async def open_function(name: str, callee: Callee, declared: PythonSystem) -> AsyncIterator[Endpoint]:
    """Give the endpoint that calls it. A call raises AppFailed where it fails, CallFailed where it hangs."""
    where = f"[systems.{name}]" if name != declared.call else name
    decode = msgspec.json.Decoder(Question if callee.takes == "row" else list[dict[str, str]]).decode

    async def send(prompt: Prompt) -> Completion:
        content = prompt.messages[0].content
        argument = content if callee.takes == "text" else decode(content)
        started = time.perf_counter()
        returned = await _outcome(callee.function, argument, declared.timeout_s, where)
        seconds = time.perf_counter() - started
        try:
            return _completion(returned, seconds, where)
        except (TypeError, ValueError, RecursionError) as mistake:
            raise AppFailed(
                "unparsable",
                f"{where} returned something that cannot be stored as JSON ({mistake}): return plain values",
            ) from None

    yield Endpoint(identity=callee.identity, send=send, concurrency=declared.max_concurrency, price=None)


async def _outcome(function: Function, argument: object, timeout_s: float, where: str) -> object:
    """Return what the callable returns. Raises AppFailed with what it raised, CallFailed when it hangs.

    One that hangs in a thread goes on there, for a thread cannot be ended; it does not keep the process.
    """
    running = await call_within(timeout_s, function, argument)
    if running is None:
        raise CallFailed("timeout", f"{where} did not return within {timeout_s:g} s")
    if running[1] is not None:
        raise AppFailed("error", f"{where} raised {raised(running[1])}")
    return running[0]


def _completion(returned: object, seconds: float, where: str) -> Completion:
    """Return what the callable said. Raises AppFailed where that is no answer."""
    if isinstance(returned, str):
        return completion_of(SystemReply(answer=returned), usage=None, latency_s=seconds, cost_usd=None)
    row = _row(returned, where)
    if row.error is not None:
        raise AppFailed("error", f"{where} says: {row.error}")
    told_s = figure_of(row.latency_s)
    return completion_of(
        SystemReply(answer=row.answer, contexts=row.contexts, steps=row.steps, metadata=row.metadata),
        usage=row.usage and msgspec.structs.replace(row.usage, calls=1),
        latency_s=seconds if told_s is None else told_s,
        cost_usd=row.cost_usd,
    )


def _row(returned: object, where: str) -> Answer:
    if isinstance(returned, Answer):
        return returned
    if not isinstance(returned, Mapping):
        value = "None" if returned is None else f"{type(returned).__name__} ({str(returned)[:60]!r})"
        raise AppFailed(
            "unparsable",
            f"{where} returned {value}; it must return a text, a mapping with `answer` and, if it "
            "can, `contexts`, or a ragstone.Answer",
        )
    raw = {"question_id": "-", **returned}
    if raw.get("error") and "answer" not in raw:
        raw["answer"] = ""
    try:
        return parse_row(raw, Answer)
    except DataError as mistake:
        reason = str(mistake).removeprefix(f"row {raw!r}: ")
        raise AppFailed("unparsable", f"{where} returned a mapping that is not an answer: {reason}") from None
