"""An application behind HTTP: a question goes out as a JSON template says, the answer is read by path."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from ragstone.kernel.config import HttpSystem
from ragstone.kernel.errors import DataError, ModelError
from ragstone.kernel.llm import CallFailed, Message, Prompt
from ragstone.kernel.llm.failures import AppFailed, Unreachable
from ragstone.kernel.llm.json_service import (
    Json,
    Pick,
    Post,
    Values,
    check_places,
    compile_path,
    described,
    open_json_service,
    places_in,
    service_identity,
)
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Answer, Context, Question, Step, Usage, told_usage
from ragstone.kernel.retrieval.deps import question_tags
from ragstone.kernel.systems._reply import SystemReply, completion_of
from ragstone.kernel.systems.rows import CONVERSATION_ID, messages_of, thread_of
from ragstone.kernel.tables.calls import as_steps
from ragstone.kernel.tables.reading import parse_row

PLACES = ("question", "id", "lang", "messages", "conversation_id")
TAG = "tag."
NUMBERS = ("input_tokens", "output_tokens", "cost_usd")
# Failures of the way to the application, which say that it hangs, is overloaded or has gone away; all others
# are its own answer to one question.
OF_THE_WAY = ("timeout", "rate_limited", "over_budget")

Reader = Callable[[Json], tuple[SystemReply, Usage | None, float | None]]
"""A reply -> what was said, the tokens and the cost; None where the reply does not tell them."""


def http_prompt(declared: HttpSystem, question: Question) -> Prompt:
    """Return the call for a question: the values of those places that the request has.

    Where the application is sent an id in place of a conversation, this comes first: the reply depends on it.
    """
    tags, thread = question_tags(question), thread_of(question)
    values: dict[str, Json] = {
        "question": question.question,
        "id": question.id,
        "lang": tags.get("lang"),
        "messages": messages_of(question),
        "conversation_id": thread.id,
        **{TAG + key: value for key, value in tags.items()},
    }
    used = places_in(declared.request) | places_in(declared.url)
    sent = {name: value for name, value in sorted(values.items()) if name in used}
    message = Message("user", msgspec.json.encode(sent).decode())
    earlier = messages_of(question)[:-1] if "conversation_id" in used else []
    before = Message("user", msgspec.json.encode(earlier).decode())
    return Prompt(
        messages=(before, message) if earlier else (message,), version=declared.version, sample=thread.sample
    )


@asynccontextmanager
async def open_http_system(name: str, declared: HttpSystem) -> AsyncIterator[Endpoint]:
    """Give the endpoint that asks the application a question a call.

    Raises ConfigError for a template or a path that cannot be. A call raises AppFailed where the application
    fails at its question; ModelError without the key and where address or key is refused, unless something
    was answered before: then that, too, is this question's failure.
    """
    where = f"[systems.{name}]"
    needed = () if "messages" in places_in(declared.request) else ("question",)
    check_places(declared, where, PLACES, needed, TAG)
    read = compile_reader(declared, where)
    has_answered = False
    # What the ledger knows the application by: another request may get another answer.
    paths = [declared.answer, declared.contexts, declared.input_tokens, declared.output_tokens]
    paths += [path for path in (declared.steps, declared.conversation_id) if path]
    form = (declared.request, sorted(declared.headers.items()), paths, declared.cost_usd)
    identity = service_identity(declared.url, form)
    async with open_json_service(declared, where) as post:

        async def send(prompt: Prompt) -> Completion:
            nonlocal has_answered
            started = time.perf_counter()
            goes_on = has_answered or len(prompt.messages) > 1
            reply = await _ask(post, msgspec.json.decode(prompt.messages[-1].content), goes_on)
            latency_s = time.perf_counter() - started
            content, usage, cost_usd = read(reply)
            has_answered = True
            return completion_of(content, usage=usage, latency_s=latency_s, cost_usd=cost_usd)

        yield Endpoint(identity=identity, send=send, concurrency=declared.max_concurrency, price=None)


async def _ask(post: Post, values: Values, has_answered: bool) -> Json:
    try:
        return await post(values)
    except Unreachable:
        raise
    except CallFailed as failure:
        if failure.status in OF_THE_WAY:
            raise
        raise AppFailed(
            failure.status,
            str(failure),
            retryable=failure.retryable,
            retry_after_s=failure.retry_after_s,
        ) from None
    except ModelError as failure:
        if not has_answered:
            raise
        raise AppFailed("error", str(failure)) from None


def compile_reader(declared: HttpSystem, where: str) -> Reader:
    """Return the function that reads a reply, and raises AppFailed. Raises ConfigError for a bad path."""
    picks = {
        field: compile_path(path, f"{where} {field}")
        for field in ("answer", "contexts", "steps", "conversation_id", *NUMBERS)
        if (path := getattr(declared, field)) is not None
    }
    listed = None  # what finds the list that the path goes through last: an empty one is not none
    if declared.contexts is not None:
        path = declared.contexts.rpartition("[*]")[0] or declared.contexts
        listed = compile_path(path, f"{where} contexts")

    def read(reply: Json) -> tuple[SystemReply, Usage | None, float | None]:
        answer = _text(reply, picks["answer"], declared.answer, where)
        contexts = None
        if listed is not None and declared.contexts is not None:
            contexts = _contexts(
                reply, picks["contexts"], listed, f"{where} contexts = {declared.contexts!r}"
            )
        tokens = [_number(reply, picks.get(field)) for field in ("input_tokens", "output_tokens")]
        usage = None if tokens == [None, None] else told_usage(*tokens)
        name = picks["conversation_id"](reply)[:1] if "conversation_id" in picks else []
        content = SystemReply(
            answer=answer,
            contexts=contexts,
            steps=_steps(reply, picks["steps"], declared.steps, where) if "steps" in picks else None,
            metadata={CONVERSATION_ID: str(name[0])} if name and isinstance(name[0], str | int) else None,
        )
        return content, usage, _number(reply, picks.get("cost_usd"))

    return read


def _text(reply: Json, pick: Pick, path: str, where: str) -> str:
    values = pick(reply)
    if values and isinstance(values[0], str):
        return values[0]
    missing = (
        f"the reply's value at answer = {path!r} is not text; it is {described(values[0], str, within=reply)}"
        if values
        else f"the reply has nothing at answer = {path!r}; it is {described(reply, str)}"
    )
    raise AppFailed("unparsable", f"{where} {missing}")


def _contexts(reply: Json, pick: Pick, listed: Pick, where: str) -> list[Context]:
    """Return the contexts of a reply, none where their list is empty. Raises AppFailed without a list."""
    values = pick(reply)
    if not values:
        lists = listed(reply)
        if lists and not lists[0]:  # an empty list, or null
            return []
        there = f"it is {described(reply, list)}"
        raise AppFailed("unparsable", f"{where}: the reply has nothing there; {there}")
    if len(values) == 1 and not isinstance(values[0], str):  # the path of the list itself
        values = values[0] if isinstance(values[0], list) else values
    texts = [] if values == [None] else values
    try:
        row = parse_row({"question_id": "-", "answer": "-", "contexts": list(texts)}, Answer)
    except DataError as mistake:
        reason = str(mistake).rpartition("}: ")[2]
        raise AppFailed("unparsable", f"{where}: {reason}; the first is {described(texts[0])}") from None
    return row.contexts or []


def _steps(reply: Json, pick: Pick, path: str | None, where: str) -> list[Step]:
    """Return what an agent did, as far as the path finds it. Raises AppFailed for what is no step."""
    values = pick(reply)
    if len(values) == 1 and isinstance(values[0], list | None):  # the path of the list itself
        values = list(values[0] or [])
    try:
        return msgspec.convert(as_steps(values), list[Step])
    except (TypeError, msgspec.ValidationError) as mistake:
        raise AppFailed("unparsable", f"{where} steps = {path!r}: {mistake}") from None


def _number(reply: Json, pick: Pick | None) -> float | None:
    values = pick(reply)[:1] if pick else []
    return next(
        (value for value in values if isinstance(value, int | float) and not isinstance(value, bool)), None
    )
