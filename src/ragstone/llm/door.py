"""The door: the one way to a language model. Ledger, limits, retries, budget and checking stand behind it."""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec

from ragstone.config import ModelSettings, Price, Settings
from ragstone.errors import ModelError, nearest
from ragstone.llm.batch import Batches, Progress
from ragstone.llm.budget import Budget, cost_of, most_tokens
from ragstone.llm.calling import Caller
from ragstone.llm.ledgers import AnyLedger, ClaimingLedger
from ragstone.llm.limits import RUN, Patience
from ragstone.llm.litellm import open_litellm
from ragstone.llm.llamacpp import open_llamacpp
from ragstone.llm.overheard import Conversation
from ragstone.llm.prompt import CallFailed, Completion, Message, OnText, Prompt, Reply
from ragstone.llm.rounds import Rounds
from ragstone.llm.schema import ReplyError, encoded_schema
from ragstone.llm.speaking import Habit, Telling
from ragstone.llm.structured import parse_reply
from ragstone.llm.transport import BrokenOff, Endpoint


def _open_openai(model: str, settings: ModelSettings) -> AbstractAsyncContextManager[Endpoint]:
    from ragstone.llm.openai import open_openai  # aiohttp takes 0.15 s to import, and a baseline needs none

    return open_openai(model, settings)


TRANSPORTS = {"openai": _open_openai, "llamacpp": open_llamacpp, "litellm": open_litellm}


class NotInLedger(CallFailed):
    """Offline, a call that the ledger lacks."""

    def __init__(self, prompt: Prompt) -> None:
        words = prompt.messages[-1].content
        super().__init__("error", f"offline, and the ledger lacks this call: ...{words[-120:]!r}")


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
        patience: Patience = RUN,
    ) -> None:
        self.endpoint = endpoint
        self.from_ledger = 0  # calls that the ledger answered
        self.price: Price | None = settings.price_usd_per_million or endpoint.price
        self._ledger = ledger
        self._budget = budget
        # Offline no call is made, so that none has to be claimed.
        self._claiming = ledger if isinstance(ledger, ClaimingLedger) and not offline else None
        self._offline = offline
        self._settings = settings
        self._batches: Batches | Rounds | None = None
        self._habit = Habit()
        self._caller = Caller(
            endpoint.concurrency, settings, budget, self.price, patience, endpoint=endpoint.identity
        )
        # A flight lands with None when its caller was cancelled, or its reply broke off while it was passed
        # on: one of those who wait makes the call.
        self._flying: dict[bytes, asyncio.Future[Completion | None]] = {}

    def by_batch(self, folder: Path, progress: Progress) -> Batches:
        """Return the batches by which this door completes its calls from now on; `folder`: of their journal.

        Raises ModelError where the transport has no batch API.
        """
        batches = self._batches = Batches(
            self.endpoint,
            self._settings,
            self._ledger,
            self._budget,
            price=self.price,
            fly=self._fly,
            folder=folder,
            progress=progress,
        )
        return batches

    def by_rounds(self, rounds: Rounds) -> None:
        """Complete calls in rounds from now on."""
        self._batches = rounds

    async def ask(self, prompt: Prompt) -> Reply:
        """Return a reply that has the prompt's type; a reply that has not is asked for once more.

        Raises CallFailed with the status that the row gets, ModelError when no call can succeed.
        """
        return await self._counted(self._ask(prompt))

    async def stream(self, prompt: Prompt, on_text: OnText) -> Reply:
        """Return a reply of free text, and call on_text with each piece of it as soon as it is there.

        The pieces are, put together, the reply's text; blocks in which the model thinks are in neither. A
        reply that is in the ledger, or of a transport that cannot stream, comes in one piece. A call is made
        again only while nothing was passed on; one that breaks off later is a CallFailed, whose `raw` is what
        had been said. Raises what `ask` raises, and ValueError for a prompt whose reply has a type.
        """
        if prompt.reply is not None:
            raise ValueError("a stream is of free text: ask for a reply that has a type with `ask`")
        return await self._counted(self._stream(prompt, on_text))

    def stop(self) -> None:
        """Make no more calls: who needs one is told so (ModelError). Those in flight come home."""
        self._caller.stop()

    async def _counted(self, asking: Awaitable[Reply]) -> Reply:
        try:
            return await (asking if self._budget.ends is None else self._in_time(asking))
        except CallFailed as failure:
            self._budget.lost(failure)
            raise

    async def _in_time(self, asking: Awaitable[Reply]) -> Reply:
        """Ask as long as the deadline of the run allows; what is in flight then is cut off."""
        try:
            async with asyncio.timeout_at(self._budget.ends) as scope:
                return await asking
        except TimeoutError:
            if not scope.expired():
                raise
            raise self._budget.too_late() from None

    async def _ask(self, prompt: Prompt) -> Reply:
        heard = Conversation(self.endpoint.identity, prompt.messages)
        first = await self._complete(prompt)
        heard.said(prompt.messages, first.refusal or first.text)
        try:
            return self._reply(prompt, [first])
        except ReplyError as mistake:
            again = _ask_again(prompt, first, str(mistake))
        try:
            second = await self._complete(again)
        except CallFailed as failure:  # the first reply was paid for, and is all there is to show
            failure.usage, failure.raw = first.usage, first.text
            raise
        heard.said(again.messages, second.refusal or second.text)
        try:
            return self._reply(prompt, [first, second])
        except ReplyError as mistake:
            usage = first.usage + second.usage
            raise CallFailed("unparsable", str(mistake), raw=second.text, usage=usage) from None

    async def _stream(self, prompt: Prompt, on_text: OnText) -> Reply:
        heard = Conversation(self.endpoint.identity, prompt.messages)
        telling = Telling(self.endpoint, on_text, self._habit)
        completion = await self._complete(prompt, telling)
        heard.said(prompt.messages, completion.refusal or completion.text)
        reply = self._reply(prompt, [completion])
        return msgspec.structs.replace(reply, text=telling.whole(completion.text))

    def _reply(self, prompt: Prompt, completions: list[Completion]) -> Reply:
        """Return the last completion as a reply with the cost of all. Raises ReplyError and CallFailed."""
        last, usage = completions[-1], completions[0].usage
        timed = [one.latency_s for one in completions if one.latency_s is not None]
        for completion in completions[1:]:
            usage += completion.usage
        if last.refusal is not None:
            raise CallFailed("refused", f"the model refused: {last.refusal}", raw=last.refusal, usage=usage)
        return Reply(
            text=last.text,
            value=None if prompt.reply is None else parse_reply(last.text, prompt.reply, prompt.nonce),
            usage=usage,
            latency_s=sum(timed) if len(timed) == len(completions) else None,
            cost_usd=cost_of(completions, self.price),
            logprobs=last.logprobs,
        )

    async def _complete(self, prompt: Prompt, telling: Telling | None = None) -> Completion:
        """Return the ledger's completion, or one that is in flight, or a new one."""
        key = prompt_key(self.endpoint.identity, prompt)
        if self._batches is not None:
            return await self._batches.complete(key, prompt)
        while True:
            completion = await self._ledger.find(key)
            if completion is None:
                flight = self._flying.get(key)
                if flight is None:
                    completion = await self._fly(key, prompt, telling)
                    break
                completion = await asyncio.shield(flight)
            if completion is not None:
                self._budget.from_ledger += 1
                self.from_ledger += 1
                break
        self._budget.count(completion, self.price)
        return completion

    async def _fly(self, key: bytes, prompt: Prompt, telling: Telling | None = None) -> Completion:
        """Make the call while identical ones wait for it, and commit the response before it is used."""
        flight = self._flying[key] = asyncio.get_running_loop().create_future()
        try:
            completion = await self._pay(key, prompt, telling)
        except BrokenOff:
            flight.set_result(None)  # whoever waits has heard nothing yet: a call of their own may go well
            raise
        except Exception as failure:
            flight.set_exception(failure)
            flight.exception()  # nobody may be waiting; that is no error
            raise
        else:
            flight.set_result(completion)
            return completion
        finally:
            del self._flying[key]
            if not flight.done():
                flight.set_result(None)

    async def _pay(self, key: bytes, prompt: Prompt, telling: Telling | None) -> Completion:
        """Make the call, unless another machine is making it: then wait for its response."""
        if self._claiming is None:
            return await self._kept(key, prompt, telling)
        async with self._claiming.claim(key) as completion:
            if completion is None:
                return await self._kept(key, prompt, telling)
        self._budget.from_ledger += 1
        self.from_ledger += 1
        return completion

    async def _kept(self, key: bytes, prompt: Prompt, telling: Telling | None) -> Completion:
        completion = await self._call(prompt, telling)
        await self._ledger.put(key, self.endpoint.identity, completion)
        return completion

    async def _call(self, prompt: Prompt, telling: Telling | None) -> Completion:
        if self._offline:
            raise NotInLedger(prompt)
        send = self.endpoint.send if telling is None else telling.send
        return await self._caller.call(lambda: send(prompt), most_tokens(prompt))


@contextlib.asynccontextmanager
async def open_door(
    model: str,
    settings: Settings,
    ledger: AnyLedger,
    budget: Budget | None = None,
    *,
    offline: bool = False,
    patience: Patience = RUN,
) -> AsyncIterator[Door]:
    """Give the door to a model named `transport/model`; `recorded/...` answers from the ledger alone.

    patience: how long an endpoint that fails is tried. Raises ModelError for a name or a transport that does
    not exist.
    """
    if model.startswith("recorded/"):
        model, offline = model.removeprefix("recorded/"), True
    transport, _, name = model.partition("/")
    if not name or transport not in TRANSPORTS:
        raise ModelError(
            f"unknown model {model!r}: models are named transport/model, e.g. openai/gpt-4o-mini or "
            f"llamacpp/smollm2-135m. {nearest(transport, [*TRANSPORTS, 'recorded'])}"
        )
    chosen = settings.models.get(model, ModelSettings())
    if chosen.api_key_file is not None:
        chosen = msgspec.structs.replace(chosen, api_key_file=str(settings.path(chosen.api_key_file)))
    async with TRANSPORTS[transport](name, chosen) as endpoint:
        yield Door(endpoint, chosen, ledger, budget or Budget(), offline=offline, patience=patience)


def prompt_key(identity: str, prompt: Prompt) -> bytes:
    """Return the content address of a call: model, messages, parameters, schema, sample number."""
    schema = b"" if prompt.reply is None else encoded_schema(prompt.reply, prompt.nonce is not None)
    parameters: tuple[float, ...] = (prompt.max_tokens, prompt.temperature, prompt.sample)
    if prompt.top_logprobs is not None:  # set or not: the keys of calls without it stay what they were
        parameters += (prompt.top_logprobs,)
    if prompt.version:
        identity = f"{identity}@{prompt.version}"
    content = msgspec.json.encode(
        (identity, prompt.messages, prompt.nonce, parameters, msgspec.Raw(schema or b"null"))
    )
    return hashlib.blake2b(content, digest_size=16).digest()


def _ask_again(prompt: Prompt, said: Completion, mistake: str) -> Prompt:
    """Return the prompt with the model's unusable reply and what was wrong with it."""
    if said.finish_reason == "length":
        mistake += "; it reached the length limit, so be much shorter"
    words = f"That reply cannot be used: {mistake}. Reply again, with one JSON object of the form asked for."
    more = (Message("assistant", said.text or "(nothing)"), Message("user", words))
    return msgspec.structs.replace(prompt, messages=prompt.messages + more)
