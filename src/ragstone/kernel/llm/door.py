"""The door: the one way to a language model. Ledger, limits, retries, budget and checking stand behind it."""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ragstone.kernel.config import ModelSettings, Price, Settings, place_of_key
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm._calling import Caller, OnFailure
from ragstone.kernel.llm._reasoning import (
    Room,
    StreamedCall,
    ThinkingStyle,
    cut_words,
    declared_room,
    was_cut,
)
from ragstone.kernel.llm.budget import Budget, cost_of, most_tokens
from ragstone.kernel.llm.call_trace import TracedConversation
from ragstone.kernel.llm.failures import CallFailed, NoProbabilities
from ragstone.kernel.llm.learnt import FirstCall, LearntStore, ModelMemory, kind_of
from ragstone.kernel.llm.limits import RUN, RetryPolicy
from ragstone.kernel.llm.prompt import CONTENT_FILTER, Completion, Message, OnText, Prompt, Reply
from ragstone.kernel.llm.providers import Dialect, Provider, decides, is_reasoner, provider_of
from ragstone.kernel.llm.questionnaire import read_answers
from ragstone.kernel.llm.response_store import AnyLedger, claimed, superseded_key
from ragstone.kernel.llm.schema import ReplyError, encoded_schema, parse_reply, without_thought
from ragstone.kernel.llm.transport import BrokenOff, Endpoint, Where

if TYPE_CHECKING:
    from ragstone.kernel.llm._batch import Batches, Progress
    from ragstone.kernel.llm.rounds import Rounds


def _open_openai(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AbstractAsyncContextManager[Endpoint]:
    from ragstone.kernel.llm._openai import (
        open_openai,  # aiohttp takes 0.15 s to import, and a baseline needs none
    )

    return open_openai(provider, model, settings, where)


def _open_anthropic(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AbstractAsyncContextManager[Endpoint]:
    from ragstone.kernel.llm._anthropic import open_anthropic  # as above

    return open_anthropic(provider, model, settings, where)


def _open_decisions(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AbstractAsyncContextManager[Endpoint]:
    from ragstone.kernel.llm._decisions import open_decisions  # as above

    return open_decisions(provider, model, settings, where)


def _open_litellm(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AbstractAsyncContextManager[Endpoint]:
    from ragstone.kernel.llm._litellm import open_litellm

    return open_litellm(provider, model, settings, where)


def _open_llamacpp(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AbstractAsyncContextManager[Endpoint]:
    from ragstone.kernel.llm.llamacpp import open_llamacpp

    return open_llamacpp(provider, model, settings, where)


Transport = Callable[[Provider, str, ModelSettings, Where], AbstractAsyncContextManager[Endpoint]]
"""What opens a model, by provider, name and settings."""

TRANSPORTS: dict[Dialect, Transport] = {
    "openai": _open_openai,
    "azure": _open_openai,
    "anthropic": _open_anthropic,
    "litellm": _open_litellm,
    "llamacpp": _open_llamacpp,
    "systemone": _open_decisions,
}


MOST_QUOTED = 100_000  # characters of an unusable reply that the model is shown again: some reply with 50 MB
LONGEST_FIRST_S = 60.0  # for the first call, where the model's table has no timeout_s


class _KeptFailure(Exception):
    """All that the ledger has for a prompt are replies of an earlier command that were of no use."""


class _Got(NamedTuple):
    """A completion, and whether it was made now."""

    completion: Completion
    made: bool


class NotInLedger(CallFailed):
    """Offline, a call that the ledger lacks."""

    def __init__(self, prompt: Prompt) -> None:
        text = prompt.messages[-1].content
        super().__init__("error", f"offline, and the ledger lacks this call: ...{text[-120:]!r}")


class Door:
    """One model, asked through `ask` and `stream`. Open it with open_door."""

    def __init__(
        self,
        endpoint: Endpoint,
        settings: ModelSettings,
        ledger: AnyLedger,
        budget: Budget,
        *,
        offline: bool,
        retry_policy: RetryPolicy = RUN,
        name: str = "",
        keep_failures: bool = False,
        memory: ModelMemory | None = None,
    ) -> None:
        """Make the door to an endpoint.

        name: of the model, as ragstone.toml has it. memory: what commands learn of it; None where that is not
        kept. keep_failures: replies of earlier commands that were of no use are taken as they are; else they
        are asked for anew.
        """
        self.endpoint = endpoint
        self._name = name or endpoint.identity
        self.from_ledger = 0  # calls that the ledger answered
        self.price: Price | None = settings.price_usd_per_million or endpoint.price
        self._ledger = ledger
        self._budget = budget
        self._offline = offline
        self._settings = settings
        self._batches: Batches | Rounds | None = None
        self._style = ThinkingStyle()
        self._room = Room(declared_room(settings), likely=is_reasoner(endpoint.identity))
        self._memory = memory
        known: frozenset[str] = frozenset()
        if memory is not None and endpoint.dialect is not None:
            known = memory.recall(endpoint.dialect, self._room)
        self._first = FirstCall(known, settings.timeout_s or LONGEST_FIRST_S)
        self._keep_failures = keep_failures
        self._no_probabilities = False  # it was asked for those of tokens, and gave none
        self._opened_at = time.time()
        self._renewed: set[bytes] = set()  # responses that took the place of earlier ones
        self._caller = Caller(
            endpoint.concurrency, settings, budget, self.price, retry_policy, endpoint=endpoint.identity
        )
        # A flight lands with None when its caller was cancelled, or its reply broke off while it was passed
        # on: one of those who wait makes the call.
        self._flying: dict[bytes, asyncio.Future[Completion | None]] = {}

    def by_batch(self, folder: Path, progress: "Progress") -> "Batches":
        """Return the batches by which this door completes its calls from now on; `folder`: of their journal.

        Raises ModelError where the transport has no batch API.
        """
        from ragstone.kernel.llm._batch import Batches

        batches = self._batches = Batches(
            self.endpoint,
            self._settings,
            self._ledger,
            self._budget,
            price=self.price,
            single_flight=self._single_flight,
            folder=folder,
            progress=progress,
        )
        return batches

    def by_rounds(self, rounds: "Rounds") -> None:
        """Complete calls in rounds from now on."""
        self._batches = rounds

    async def ask(self, prompt: Prompt) -> Reply:
        """Return a reply that has the prompt's type; a reply that has not is asked for once more.

        Raises CallFailed with the status that the row gets, ModelError when no call can succeed; the one for
        probabilities of tokens that the model does not give is NoProbabilities, after one call.
        """
        self._check_kind(prompt)
        probabilities_alone = prompt.top_logprobs is not None and prompt.reply is None
        if probabilities_alone and self._no_probabilities:
            raise NoProbabilities(f"{self._name} gives no probabilities of tokens")
        async with self._in_run():
            try:
                reply = await self._ask_and_parse(prompt, renew=prompt.renew)
            except _KeptFailure:  # from which the room to think in was learnt
                reply = await self._ask_and_parse(prompt, renew=True)
        self._no_probabilities |= probabilities_alone and reply.logprobs is None
        return reply

    async def stream(self, prompt: Prompt, on_text: OnText) -> Reply:
        """Return a reply of free text, and call on_text with each piece of it as soon as it is there.

        The pieces are, put together, the reply's text; blocks in which the model thinks are in neither. A
        reply that is in the ledger, or of a transport that cannot stream, comes in one piece. A call is made
        again only while nothing was passed on; one that breaks off later is a CallFailed, whose `raw` is what
        had been said. Raises what `ask` raises, and ValueError for a prompt whose reply has a type.
        """
        if prompt.reply is not None:
            raise ValueError("a stream is of free text: ask for a reply that has a type with `ask`")
        self._check_kind(prompt)
        streamed = StreamedCall(self.endpoint, on_text, self._style)
        async with self._in_run():
            try:
                return await self._ask_and_pass_on(prompt, streamed, renew=False)
            except _KeptFailure:
                return await self._ask_and_pass_on(prompt, streamed, renew=True)

    def stop(self) -> None:
        """Make no more calls: who needs one is told so (ModelError). Those in flight come home."""
        self._caller.stop()

    def _check_kind(self, prompt: Prompt) -> None:
        """Raise ModelError, before anything is paid, for a prompt that such a model does not answer."""
        if self.endpoint.decides and prompt.questionnaire is None:
            raise ModelError(
                f"{self._name} is a decision model: it gives probabilities and writes no text. Name a model "
                "that writes, or judge with kinds boolean, classify, percentage and rubric."
            )
        if prompt.questionnaire is not None and not self.endpoint.decides:
            raise ModelError(f"{self._name} is not a decision model, but is asked typed questions")

    @contextlib.asynccontextmanager
    async def _in_run(self) -> AsyncIterator[None]:
        """Cut what is asked within the block off at the deadline of the run; count a call that is lost."""
        try:
            async with asyncio.timeout_at(self._budget.ends) as scope:
                yield
        except TimeoutError:
            if not scope.expired():
                raise
            failure = self._budget.too_late()
            self._budget.lost(failure)
            raise failure from None
        except CallFailed as failure:
            self._budget.lost(failure)
            raise

    def key_of(self, prompt: Prompt) -> bytes:
        """Return the content address of a call: what the ledger keeps its response under."""
        return self._key(self._settled(prompt))

    def _key(self, settled: Prompt) -> bytes:
        return prompt_key(self.endpoint.identity, settled, self._settings.extra)

    def _settled(self, prompt: Prompt) -> Prompt:
        """Return the prompt with what the model's settings decide."""
        temperature, default = prompt.temperature, prompt.default_temperature
        if temperature is None and prompt.questionnaire is None:  # a decision model takes none
            temperature = self._settings.temperature
        if temperature is None:
            temperature = default
        else:
            default = None  # somebody wants this one: whoever cannot have it is told so
        return msgspec.structs.replace(
            prompt, temperature=temperature, default_temperature=default, room=self._room.tokens
        )

    async def _ask_and_parse(self, prompt: Prompt, *, renew: bool) -> Reply:
        """Return the reply, asked for once more where it cannot be read.

        renew: the responses of earlier commands are not looked at.
        """
        prompt = self._settled(prompt)
        traced = TracedConversation(self.endpoint.identity, prompt.shown)
        key = self._key(prompt)
        if renew and self._batches is None:  # which see to it themselves that nothing is asked a third time
            renew = await self._is_earlier(key)
        first, made = await self._complete(key, prompt, renew=renew)
        traced.said(prompt.shown, first.refusal or first.text)
        from_earlier = not (made or self._keep_failures)
        try:
            return self._reply(prompt, [first], kept=from_earlier)
        except ReplyError as mistake:
            if was_cut(prompt, first):
                raise await self._useless(key, prompt, [first], cut_words(first, self._name), made) from None
            reason = (
                f"That reply cannot be used: {mistake}. "
                "Reply again, with one JSON object of the form asked for."
            )
            more = (Message("assistant", first.text[:MOST_QUOTED] or "(nothing)"), Message("user", reason))
            again = msgspec.structs.replace(prompt, messages=prompt.messages + more)
        try:
            second, made_too = await self._complete(self._key(again), again, renew=renew)
        except CallFailed as failure:  # the first reply was paid for, and is all there is to show
            self._count([first])
            raise failure.charged(first.usage, first.text) from failure
        traced.said(again.messages, second.refusal or second.text)
        try:
            return self._reply(prompt, [first, second], kept=from_earlier and not made_too)
        except ReplyError as mistake:
            reason = cut_words(second, self._name) if was_cut(prompt, second) else str(mistake)
            raise await self._useless(key, prompt, [first, second], reason, made or made_too) from None

    async def _useless(
        self, key: bytes, prompt: Prompt, completions: list[Completion], reason: str, made: bool
    ) -> Exception:
        """Return the failure of a conversation: of no use now, or _KeptFailure if that was so before."""
        self._room.learn(prompt, completions[-1])
        if not (made or self._keep_failures) and await self._is_earlier(key):
            if self._batches is None:  # else they were not counted yet
                self._budget.from_ledger -= len(completions)
                self.from_ledger -= len(completions)
            return _KeptFailure()
        self._count(completions)
        usage = sum((completion.usage for completion in completions[1:]), completions[0].usage)
        return CallFailed("unparsable", reason, raw=completions[-1].text, usage=usage)

    async def _ask_and_pass_on(self, prompt: Prompt, streamed: StreamedCall, *, renew: bool) -> Reply:
        prompt = self._settled(prompt)
        traced = TracedConversation(self.endpoint.identity, prompt.messages)
        key = self._key(prompt)
        completion, made = await self._complete(key, prompt, streamed, renew=renew)
        traced.said(prompt.messages, completion.refusal or completion.text)
        try:
            reply = self._reply(prompt, [completion])
        except ReplyError:
            reason = cut_words(completion, self._name)
            raise await self._useless(key, prompt, [completion], reason, made) from None
        return msgspec.structs.replace(reply, text=streamed.whole(completion.text))

    def _reply(self, prompt: Prompt, completions: list[Completion], *, kept: bool = False) -> Reply:
        """Return the last completion as a reply with the cost of all. Raises ReplyError and CallFailed."""
        last, usage = completions[-1], completions[0].usage
        timed = [each.latency_s for each in completions if each.latency_s is not None]
        for completion in completions[1:]:
            usage += completion.usage
        if last.refusal is not None:
            # Before it had a name, a refusal of the filter was kept as `filtered`.
            by_filter = last.refusal in (CONTENT_FILTER, "filtered")
            reason = f"cut off by {CONTENT_FILTER}" if by_filter else f"the model refused: {last.refusal}"
            self._count(completions)
            raise CallFailed("refused", reason, raw=last.refusal, usage=usage)
        if prompt.reply is None and was_cut(prompt, last):
            raise ReplyError("the reply was cut off before it began")
        value: Any = None
        if prompt.questionnaire is not None:
            value = read_answers(last.text, prompt.questionnaire)
        elif prompt.reply is not None:
            value = parse_reply(last.text, prompt.reply, prompt.nonce)
        self._count(completions)
        return Reply(
            text=without_thought(last.text) if value is None else last.text,
            value=value,
            usage=usage,
            latency_s=sum(timed) if len(timed) == len(completions) else None,
            cost_usd=cost_of(completions, self.price),
            logprobs=last.logprobs,
            kept=kept,
        )

    async def _is_earlier(self, key: bytes) -> bool:
        """Return whether a response is of an earlier command: this one does not ask for its own anew."""
        if key in self._renewed:  # its moment says nothing where the clock was set back meanwhile
            return False
        return await self._ledger.find(key, saved=False, since=self._opened_at) is None

    def _count(self, completions: Sequence[Completion]) -> None:
        """Count responses that are used; those of batches are counted where they are found."""
        if self._batches is None:
            for completion in completions:
                self._budget.count(completion, self.price)

    async def _complete(
        self, key: bytes, prompt: Prompt, streamed: StreamedCall | None = None, *, renew: bool
    ) -> _Got:
        """Return the ledger's completion, or one that is in flight, or a new one.

        renew: what the ledger has is of no use, and gives way to a new one.
        """
        if self._batches is not None:
            return await self._complete_later(self._batches, key, prompt, renew=renew)
        while True:
            flight = self._flying.get(key)
            if flight is not None:
                completion = await asyncio.shield(flight)
            else:
                completion = None if renew else await self._ledger.find(key)
                if completion is None and key not in self._flying:
                    return _Got(await self._single_flight(key, prompt, streamed, renew=renew), made=True)
            if completion is not None:
                self._budget.from_ledger += 1
                self.from_ledger += 1
                return _Got(completion, made=flight is not None)

    async def _complete_later(
        self, batches: "Batches | Rounds", key: bytes, prompt: Prompt, *, renew: bool
    ) -> _Got:
        """Return what came with a batch; a reply that was cut off goes into the next one, with more room."""
        completion, made = await batches.complete(key, prompt, renew=renew)
        self._room.learn(prompt, completion)
        wider = None
        if made and batches.collecting:
            # Since it was sent, other replies may have taught more room: what it had shows in what it took.
            had = (
                completion.usage.output - (prompt.max_tokens or 0) if completion.usage.output else prompt.room
            )
            sent = msgspec.structs.replace(prompt, room=max(0, min(prompt.room, had)))
            wider = self._room.wider(sent, completion)
        if wider is not None:
            completion, made = await batches.complete(key, wider, renew=True)
        return _Got(completion, made)

    async def _single_flight(
        self, key: bytes, prompt: Prompt, streamed: StreamedCall | None = None, *, renew: bool = False
    ) -> Completion:
        """Make the call, unless another process is making it: then wait for its response."""
        with self._flight(key) as flight:
            if self._offline:
                raise NotInLedger(prompt)
            async with claimed(self._ledger, key, self._opened_at if renew else 0.0) as completion:
                if completion is None:
                    completion = await self._call_endpoint(key, prompt, streamed, renew=renew)
                else:
                    self._budget.from_ledger += 1
                    self.from_ledger += 1
            flight.set_result(completion)
            return completion

    @contextlib.contextmanager
    def _flight(self, key: bytes) -> Iterator[asyncio.Future[Completion | None]]:
        """Within the block a call is made, and identical ones wait for what the future is given."""
        flight = self._flying[key] = asyncio.get_running_loop().create_future()
        try:
            yield flight
        except BrokenOff:  # whoever waits has traced nothing yet: a call of their own may go well
            raise
        except Exception as failure:
            flight.set_exception(failure)
            flight.exception()  # nobody may be waiting; that is no error
            raise
        finally:
            del self._flying[key]
            if not flight.done():
                flight.set_result(None)

    async def _call_endpoint(
        self, key: bytes, prompt: Prompt, streamed: StreamedCall | None, *, renew: bool
    ) -> Completion:
        """Make the call, and commit its response.

        A reply that was cut off is asked for once more, with more room to think. The first one is kept as
        evidence and counted as spent; in the row stands what the second took, so that rows do not depend on
        when the room was learnt.
        """
        if prompt.limit is None and self._budget.is_capped:
            raise ConfigError(
                f"--budget in tokens or usd needs a limit on replies, and those of {self._name} have none. "
                "Give max_tokens in its table of [systems], or the budget in calls."
            )
        send = self.endpoint.send if streamed is None else streamed.send
        # How an endpoint is asked is learnt from its first call, but a person waits for what is streamed.
        dialect = self.endpoint.dialect if streamed is None else None
        kind = kind_of(prompt)
        turn: AbstractAsyncContextManager[OnFailure | None] = contextlib.nullcontext()
        if dialect is not None and not self._first.knows(kind):
            turn = self._first.turn(kind)
        async with turn as failed:
            # Meanwhile the first call may have taught how much room is needed.
            if dialect is not None:
                prompt = msgspec.structs.replace(prompt, room=max(prompt.room, self._room.tokens))
            completion = await self._caller.call(lambda: send(prompt), most_tokens(prompt), failed)
            self._room.learn(prompt, completion)
            wider = self._room.wider(prompt, completion)
            if wider is not None and (streamed is None or streamed.silent):
                first = completion
                aside = superseded_key(key, time.time())
                await self._ledger.put(aside, self.endpoint.identity, first)
                self._budget.discard(first, self.price)
                try:
                    completion = await self._caller.call(lambda: send(wider), most_tokens(wider), failed)
                except CallFailed as failure:  # the first reply was paid for, and is all there is to show
                    raise failure.charged(first.usage, first.text) from failure
                self._room.learn(wider, completion)
            await self._ledger.put(key, self.endpoint.identity, completion, renewed=renew)
            if renew:
                self._renewed.add(key)
        if dialect is not None and self._memory is not None:
            self._memory.answered(kind, dialect, self._room)
        return completion


@contextlib.asynccontextmanager
async def open_door(
    model: str,
    settings: Settings,
    ledger: AnyLedger,
    budget: Budget | None = None,
    *,
    offline: bool = False,
    retry_policy: RetryPolicy = RUN,
    keep_failures: bool = False,
    memory: LearntStore | None = None,
) -> AsyncIterator[Door]:
    """Give the door to a model named `transport/model`; `recorded/...` answers from the ledger alone.

    retry_policy: how long an endpoint that fails is tried. keep_failures: see Door. memory: in
    which commands keep what they learn of models; None: nothing is kept. Raises ModelError for a name or a
    transport that does not exist.
    """
    if model.startswith("recorded/"):
        model, offline, keep_failures = model.removeprefix("recorded/"), True, True
    provider, name = provider_of(model)
    chosen = settings.model(model)

    def where(*keys: str) -> str:
        return place_of_key(settings, ["models", model, *keys])

    dialect: Dialect = "systemone" if decides(model, chosen) else provider.dialect
    async with TRANSPORTS[dialect](provider, name, chosen, where) as endpoint:
        yield Door(
            endpoint,
            chosen,
            ledger,
            budget or Budget(),
            offline=offline,
            retry_policy=retry_policy,
            name=model,
            keep_failures=keep_failures,
            memory=None if memory is None else ModelMemory(memory, endpoint.identity, chosen.extra),
        )


def prompt_key(identity: str, prompt: Prompt, extra: Mapping[str, Any] = {}) -> bytes:
    """Return the content address of a call: model, messages, parameters, schema, sample number.

    extra: further fields of the request. What is newer counts where it is set only: the keys of calls without
    it stay what they were.
    """
    schema = b"" if prompt.reply is None else encoded_schema(prompt.reply, prompt.nonce is not None)
    temperature = prompt.default_temperature if prompt.temperature is None else prompt.temperature
    parameters: tuple[Any, ...] = (prompt.max_tokens, temperature, prompt.sample)
    if prompt.top_logprobs is not None:
        parameters += (prompt.top_logprobs,)
    if prompt.top_p is not None or extra:
        further = msgspec.json.encode({"top_p": prompt.top_p, "extra": extra}, order="deterministic")
        parameters += (msgspec.Raw(further),)
    if prompt.questionnaire is not None:
        parameters += (prompt.questionnaire,)
    if prompt.version:
        identity = f"{identity}@{prompt.version}"
    content = msgspec.json.encode(
        (identity, prompt.messages, prompt.nonce, parameters, msgspec.Raw(schema or b"null"))
    )
    return hashlib.blake2b(content, digest_size=16).digest()
