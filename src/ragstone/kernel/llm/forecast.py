"""What a run will ask of models, before it asks: calls, tokens, money and time.

The stages run as they would, but each call is answered from the ledger, or else counted and given a
made-up reply, so that the calls which depend on it are counted too. Lengths of replies and latencies
come from earlier calls in the ledger: first those of this very run, else any of the same model.
"""

import hashlib
from collections.abc import Callable, Sequence

import msgspec

from ragstone.kernel.config import ModelSettings, Price
from ragstone.kernel.llm.budget import UNLIMITED, cost_usd, most_tokens
from ragstone.kernel.llm.door import Door, NotInLedger
from ragstone.kernel.llm.prompt import Ask, Completion, Prompt, Reply
from ragstone.kernel.llm.providers import ListPrice, is_reasoner, providers
from ragstone.kernel.llm.stub_reply import stub_reply
from ragstone.kernel.records import Usage

# Without any earlier call: four bytes a token, and replies that use a third of what they may, after 1,000
# tokens of thought where the model's name says that it thinks.
TOKENS_A_BYTE = 0.25
SHARE_OF_LIMIT = 1 / 3
THOUGHT = 1000.0
NO_TEXT = 0  # the longest reply of a decision model

Earlier = Callable[[str], Sequence[Completion]]
"""A model, as the ledger knows it -> some of its earlier responses."""


class ModelForecast(msgspec.Struct, frozen=True, kw_only=True):
    """What will be asked of one model.

    calls: not in the ledger; from_ledger: answered by it. input, output: tokens of `calls`; cached,
    reasoning: the parts of them that the provider's cache has, and that the model thinks with. cost_usd: None
    where the price is unknown; list_price_read: the day of a price that ships. duration_s: None where no
    call was ever made. n_earlier: calls that the lengths of replies are taken from, 0 where they are assumed.
    batch_discount: the share of the price that a call of a batch saves; None where that is unknown.
    shared: tokens of `input` with which an earlier prompt of the same row begins too, as far as the
    provider's cache takes so short a beginning up; shared_usd: what they cost less if it has them, less what
    taking them up costs. 0 and None where the provider does not say from how many tokens on, has no
    price for them, or earlier calls show what its cache has.
    """

    model: str
    calls: int
    from_ledger: int
    input: int
    output: int
    cost_usd: float | None
    duration_s: float | None
    n_earlier: int
    list_price_read: str | None = None
    cached: int = 0
    reasoning: int = 0
    batch_discount: float | None = None
    shared: int = 0
    shared_usd: float | None = None


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What a run will ask, by model and in all; a sum is None where a part of it is unknown."""

    calls: int
    from_ledger: int
    input: int
    output: int
    cost_usd: float | None
    duration_s: float | None
    models: list[ModelForecast]
    assumptions: list[str] = []
    cached: int = 0
    reasoning: int = 0

    def by_batch(self) -> "Forecast":
        """Return the forecast of the same calls by batches: at each model's discount, and without a time."""
        models, said = [], []
        for model in self.models:
            discount, price = model.batch_discount, ""
            if model.cost_usd is not None:
                price = (
                    ", at the price of single calls: no batch_discount is known"
                    if discount is None
                    else f", at a discount of {100 * discount:g} %"
                )
            if model.calls:
                said.append(f"{model.model} uses batches, which may take a day{price}.")
            cost = None if model.cost_usd is None else model.cost_usd * (1 - (discount or 0.0))
            # In which order a batch is worked off, nobody says: what a cache has of it, neither.
            unshared = {"shared": 0, "shared_usd": None}
            models.append(msgspec.structs.replace(model, cost_usd=cost, duration_s=None, **unshared))
        return msgspec.structs.replace(
            self,
            cost_usd=_sum([model.cost_usd for model in models if model.calls]),
            duration_s=None,
            models=models,
            assumptions=[*self.assumptions, *said],
        )


class _Kind:
    """Calls of one form: those that the ledger has, and the others, weighted."""

    def __init__(self) -> None:
        self.known = Usage(calls=0)
        self.known_bytes = 0
        self.known_s = 0.0
        self.n_timed = 0  # not the calls of a batch
        self.n_known = self.n_missing = self.missing_bytes = 0.0


class _Beginnings:
    """What prompts of one row begin with alike, in bytes: those that an earlier one has had, and the new."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self.parts: list[tuple[float, int, int]] = []  # weight, bytes seen before, bytes that are new

    def hear(self, prompt: Prompt, weight: float) -> None:
        """Count a prompt that will be sent."""
        *before, last = prompt.messages
        head = "".join(message.content for message in before) + (prompt.schema or b"").decode()
        seen = n_bytes = 0
        for end in prompt.shared:
            beginning = (head + last.content[:end]).encode("utf-8", "surrogatepass")
            n_bytes = len(beginning)
            key = hashlib.blake2b(beginning, digest_size=16).digest()
            if key in self._seen:
                seen = n_bytes
            self._seen.add(key)
        self.parts.append((weight, seen, n_bytes - seen))

    def tokens(self, tokens_a_byte: float, least: int) -> tuple[float, float]:
        """Return the tokens that the cache may have, and those that it takes up. least: that it takes up."""
        had = sum(n * seen for n, seen, _new in self.parts if seen * tokens_a_byte >= least)
        written = sum(n * new for n, seen, new in self.parts if (seen + new) * tokens_a_byte >= least)
        return had * tokens_a_byte, written * tokens_a_byte


class _Listened:
    """One model: its door, its limits, and what was asked of it."""

    def __init__(self, door: Door, limits: ModelSettings) -> None:
        self.door = door
        self.limits = limits
        self.kinds: dict[tuple[str, int | None], _Kind] = {}
        self.beginnings = _Beginnings()


class Forecaster:
    """Listens to the calls of stages.

    weight: how many calls each one that is heard stands for. guessing: what is asked follows from vectors
    that are not there yet, so other calls will be made: neither the ledger nor an earlier one answers these.
    """

    def __init__(self) -> None:
        self.weight = 1.0
        self.guessing = False
        self.assumptions: dict[str, None] = {}
        self._models: dict[str, _Listened] = {}
        self._embeddings: dict[str, tuple[float, float, Price | None]] = {}
        self._heard: set[bytes] = set()

    def listen(self, model: str, door: Door, limits: ModelSettings) -> Ask:
        """Return an `ask` that makes no call. door: an offline one, so that it looks into the ledger only."""
        listened = self._models.setdefault(model, _Listened(door, limits))

        async def ask(prompt: Prompt) -> Reply:
            form = "" if prompt.reply is None else prompt.reply.__name__
            limit = prompt.max_tokens if prompt.questionnaire is None else NO_TEXT
            kind = listened.kinds.setdefault((form, limit), _Kind())
            n_bytes = most_tokens(prompt).input
            try:
                if self.guessing:
                    raise NotInLedger(prompt)
                reply = await door.ask(prompt)
            except NotInLedger:
                key = door.key_of(prompt)
                if self.guessing or key not in self._heard:  # the same call twice is made once
                    self._heard.add(key)
                    kind.n_missing += self.weight
                    kind.missing_bytes += self.weight * n_bytes
                    if prompt.shared:
                        listened.beginnings.hear(prompt, self.weight)
                return stub_reply(prompt)
            kind.n_known += self.weight
            kind.known += reply.usage
            kind.known_bytes += n_bytes * reply.usage.calls
            if reply.latency_s is not None:
                kind.known_s += reply.latency_s
                kind.n_timed += reply.usage.calls
            return reply

        return ask

    def assume(self, *sentences: str | None) -> None:
        """Take down what the forecast assumes, each sentence once; None for nothing."""
        self.assumptions |= dict.fromkeys(filter(None, sentences))

    def hear_embedding(self, model: str, n_calls: float, n_bytes: float, price: Price | None) -> None:
        """Count requests for the vectors of texts of so many bytes."""
        calls_before, bytes_before, _ = self._embeddings.get(model, (0.0, 0.0, None))
        self._embeddings[model] = (calls_before + n_calls, bytes_before + n_bytes, price)

    def forecast(self, earlier: Earlier) -> Forecast:
        """Return what was heard, in numbers. earlier: gives some responses of a model from the ledger."""
        models = [_forecast(name, listened, earlier) for name, listened in self._models.items()]
        models += [_forecast_embedding(name, *heard) for name, heard in self._embeddings.items()]
        costs = [model.cost_usd for model in models if model.calls]
        times = [model.duration_s for model in models if model.calls]
        return Forecast(
            calls=sum(model.calls for model in models),
            from_ledger=sum(model.from_ledger for model in models),
            input=sum(model.input for model in models),
            output=sum(model.output for model in models),
            cost_usd=_sum(costs),
            duration_s=_sum(times),
            models=models,
            assumptions=list(self.assumptions),
            cached=sum(model.cached for model in models),
            reasoning=sum(model.reasoning for model in models),
        )


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _forecast(name: str, listened: _Listened, earlier: Earlier) -> ModelForecast:
    door, kinds = listened.door, listened.kinds
    known = sum((kind.known for kind in kinds.values()), Usage(calls=0))
    known_bytes = sum(kind.known_bytes for kind in kinds.values())
    past = earlier(door.endpoint.identity)
    tokens_a_byte = known.input / known_bytes if known.input else TOKENS_A_BYTE
    n_calls = sum(kind.n_missing for kind in kinds.values())
    n_input = sum(kind.missing_bytes for kind in kinds.values()) * tokens_a_byte
    # The provider's cache will have of what is sent what it had in earlier calls.
    used = known if known.input else sum((completion.usage for completion in past), Usage(calls=0))
    cached_share = used.cached / used.input if used.input else 0.0
    thinks = is_reasoner(door.endpoint.identity)
    replies = [
        (kind.n_missing, *_reply_tokens(kind, limit, past, thinks=thinks))
        for (_form, limit), kind in kinds.items()
    ]
    usage = Usage(
        input=round(n_input),
        output=round(sum(n * output for n, output, _thought in replies)),
        cached=round(n_input * cached_share),
        reasoning=round(sum(n * thought for n, _output, thought in replies)),
    )
    price = door.price
    shared, shared_usd = (0.0, None) if usage.cached else _shared(listened, name, tokens_a_byte)
    return ModelForecast(
        model=name,
        calls=round(n_calls),
        from_ledger=round(sum(kind.n_known for kind in kinds.values())),
        input=usage.input,
        output=usage.output,
        cached=usage.cached,
        reasoning=usage.reasoning,
        cost_usd=cost_usd(usage, price),
        duration_s=_duration_s(listened, n_calls, usage, past),
        n_earlier=known.calls or len(past),
        list_price_read=str(price.read) if isinstance(price, ListPrice) else None,
        batch_discount=None if door.endpoint.wire is None else door.endpoint.wire.discount,
        shared=round(shared),
        shared_usd=shared_usd,
    )


def _shared(listened: _Listened, name: str, tokens_a_byte: float) -> tuple[float, float | None]:
    """Return the tokens that a provider's cache may have of what prompts of a row share, and what that saves.

    0 and None where a price or the provider's shortest beginning is unknown, or nothing is saved.
    """
    price, provider = listened.door.price, providers().get(name.partition("/")[0])
    least = None if provider is None else provider.cache_minimum
    if not listened.beginnings.parts or price is None or price.cached is None or least is None:
        return 0.0, None
    had, written = listened.beginnings.tokens(tokens_a_byte, least)
    surcharge = 0.0 if price.cache_write is None else price.cache_write - price.input
    saved = (had * (price.input - price.cached) - written * surcharge) / 1e6
    return (had, saved) if saved > 0 else (0.0, None)


def _forecast_embedding(name: str, n_calls: float, n_bytes: float, price: Price | None) -> ModelForecast:
    usage = Usage(input=round(n_bytes * TOKENS_A_BYTE))
    return ModelForecast(
        model=name,
        calls=round(n_calls),
        from_ledger=0,
        input=usage.input,
        output=0,
        cost_usd=cost_usd(usage, price),
        duration_s=None,
        n_earlier=0,
        list_price_read=str(price.read) if isinstance(price, ListPrice) else None,
    )


def _reply_tokens(
    kind: _Kind, limit: int | None, past: Sequence[Completion], *, thinks: bool
) -> tuple[float, float]:
    """Return the tokens of a reply, and those of thought among them.

    As in this run's calls of the kind, else as in the model's others. thinks: whether the model is known to.
    """
    known = kind.known
    if known.output:
        return known.output / known.calls, known.reasoning / known.calls
    if limit == NO_TEXT:  # some servers count the answers of a decision model all the same
        total = sum((completion.usage for completion in past), Usage(calls=0))
        return (total.output / total.calls if total.calls else 0.0), 0.0
    most = UNLIMITED if limit is None else limit
    used = [completion.usage for completion in past if completion.usage.output]
    if not used:
        thought = THOUGHT if thinks else 0.0
        return most * SHARE_OF_LIMIT + thought, thought
    n_calls = sum(usage.calls for usage in used)
    thought = sum(usage.reasoning for usage in used) / n_calls
    n_said = sum(min(most * usage.calls, usage.output - usage.reasoning) for usage in used) / n_calls
    return n_said + thought, thought


def _duration_s(
    listened: _Listened, n_calls: float, usage: Usage, past: Sequence[Completion]
) -> float | None:
    """Return how long the calls take: by their latency, and not faster than the limits a minute allow."""
    n_timed = sum(kind.n_timed for kind in listened.kinds.values())
    known_s = sum(kind.known_s for kind in listened.kinds.values())
    if not n_timed:
        timed = [completion.latency_s for completion in past if completion.latency_s is not None]
        n_timed, known_s = len(timed), sum(timed)
    if not n_timed:
        return None
    at_once = max(1.0, min(listened.door.endpoint.concurrency, n_calls))
    seconds = n_calls * known_s / n_timed / at_once
    limits = listened.limits
    if limits.requests_per_minute:
        seconds = max(seconds, 60 * n_calls / limits.requests_per_minute)
    if limits.tokens_per_minute:
        seconds = max(seconds, 60 * (usage.input + usage.output) / limits.tokens_per_minute)
    return round(seconds, 3)
