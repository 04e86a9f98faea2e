"""What a ledger holds, what its responses cost, and what they saved: by model and by day."""

import datetime
from collections.abc import Iterable

import msgspec

from ragstone.kernel.config import Price, Settings
from ragstone.kernel.llm.budget import cost_usd, sum_usd
from ragstone.kernel.llm.ledgers import LedgerLocation, open_store, size_on_disk
from ragstone.kernel.llm.providers import list_price, providers
from ragstone.kernel.llm.response_store import Row
from ragstone.kernel.records import MOST, Usage, checked_usage

EPOCH, DAY_S = datetime.date(1970, 1, 1), 86_400


class CallTally(msgspec.Struct, frozen=True, kw_only=True):
    """A number of calls and their tokens.

    cached, cache_written: parts of `input`; reasoning: a part of `output`. The latter two are unknown of
    hits, and 0. uncounted: those of the calls whose endpoint gave no token counts.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0
    reasoning: int = 0
    uncounted: int = 0

    def __add__(self, other: "CallTally") -> "CallTally":
        return CallTally(
            calls=self.calls + other.calls,
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            cache_written=self.cache_written + other.cache_written,
            reasoning=self.reasoning + other.reasoning,
            uncounted=self.uncounted + other.uncounted,
        )


class AccountLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one model cost and saved on one day (UTC); without `model` or `day`, over all of them.

    made: the calls whose responses the ledger holds, on the day they were stored. hits: the calls that
    it answered instead of the model. spent_usd, saved_usd: what these cost at the prices known now, in
    US dollars, and the discount of calls that were made in a batch taken off what was spent; None where
    a price or a token count is unknown.
    """

    model: str | None = None
    day: datetime.date | None = None
    made: CallTally = CallTally()
    hits: CallTally = CallTally()
    spent_usd: float | None = 0.0
    saved_usd: float | None = 0.0


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """A ledger in figures. path: of its file, or the URL of its database. n_bytes: on disk.

    lines: by day, then model; models and days: their sums. unpriced: the models whose price is unknown.
    """

    path: str
    n_bytes: int
    responses: int
    damaged: int
    total: AccountLine
    models: list[AccountLine]
    days: list[AccountLine]
    lines: list[AccountLine]
    unpriced: list[str]


def read_account(location: LedgerLocation, settings: Settings) -> Account:
    """Return what a ledger holds, at the prices of the settings, else those that the transports know.

    Raises DataError when there is no ledger, or a damaged one.
    """
    with open_store(location) as store, store.one_moment():
        made = tally_responses(store.rows())
        damaged = store.n_bad
        hits = {(day, model): _tally(counts) for day, model, *counts in store.hits()}
    by_day_and_model: dict[tuple[int, str], dict[float, CallTally]] = {pair: {} for pair in hits}
    for (day, model, discount), tally in made.items():
        by_day_and_model.setdefault((day, model), {})[discount] = tally
    prices = {model: price_of(model, settings) for _, model in by_day_and_model}
    lines = [
        _line(*pair, prices[pair[1]], made=by_day_and_model[pair], hits=hits.get(pair, CallTally()))
        for pair in sorted(by_day_and_model)
    ]
    return Account(
        path=str(location),
        n_bytes=size_on_disk(location),
        responses=sum(tally.calls for tally in made.values()),
        damaged=damaged,
        total=_sum(lines),
        models=[_sum((li for li in lines if li.model == model), model=model) for model in sorted(prices)],
        days=[
            _sum((line for line in lines if line.day == day), day=day)
            for day in sorted({line.day for line in lines if line.day})
        ],
        lines=lines,
        unpriced=sorted(model for model, price in prices.items() if price is None),
    )


def tally_responses(rows: Iterable[Row]) -> dict[tuple[int, str, float], CallTally]:
    """Return (day since 1970, model, discount) -> the calls that made these responses."""
    decode = msgspec.json.Decoder(_CountedCalls).decode
    counts: dict[tuple[int, str, float], list[int]] = {}
    for _, model, response, created in rows:
        used = decode(response)
        usage = checked_usage(used.usage)  # what a ledger of an older version holds was not checked
        counted = counts.setdefault((int(created // DAY_S), model, used.discount), [0] * 7)
        counted[0] += 1
        counted[1] += usage.input
        counted[2] += usage.output
        counted[3] += usage.cached
        counted[4] += not usage.input + usage.output
        counted[5] += usage.cache_written
        counted[6] += usage.reasoning
    return {place: _tally(counted) for place, counted in counts.items()}


def tally_usd(tally: CallTally, price: Price | None, discount: float = 0.0) -> float | None:
    """Return what these calls cost; None where that is unknown, 0 where there are none or they are free.

    discount: the share of the price that they did not cost.
    """
    if not tally.calls:
        return 0.0
    if price is None or (tally.uncounted and price.input + price.output > 0):
        return None
    used = Usage(
        input=tally.input,
        output=tally.output,
        cached=tally.cached,
        cache_written=tally.cache_written,
        reasoning=tally.reasoning,
    )
    cost = cost_usd(used, price)
    return None if cost is None else (1 - discount) * cost


def price_of(identity: str, settings: Settings) -> Price | None:
    """Return the price of a model as the ledger names it, `transport/name@where`; None if it is unknown."""
    name, _, where = identity.rpartition("@") if "@" in identity else (identity, "", "")
    for model, table in settings.models.items():
        transport, _, declared = model.partition("/")
        if transport == "llamacpp" and declared.endswith(".gguf"):
            declared = declared.rpartition("/")[2].removesuffix(".gguf")
        if table.price_usd_per_million is not None and f"{transport}/{declared}" == name:
            return table.price_usd_per_million
    transport, _, model = name.partition("/")
    if transport == "llamacpp":
        return Price(input=0, output=0)
    provider = providers().get(transport)
    if provider is None:
        return None
    return list_price(f"https://{where}" if where else provider.base_url, model)


class _CountedCalls(msgspec.Struct):
    """The part of a Completion that is counted."""

    usage: Usage = msgspec.field(default_factory=Usage)
    discount: float = 0.0


def _tally(counts: list[int]) -> CallTally:
    """Return counts in the order in which hits are stored, and behind them what is known of calls alone.

    Sums of tokens that so many calls cannot have are of a response with a broken count: none is known.
    """
    calls, tokens_in, tokens_out, cached, uncounted, *more = counts
    if not all(0 <= n <= MOST * calls for n in (tokens_in, tokens_out, cached)):
        tokens_in, tokens_out, cached, uncounted, more = 0, 0, 0, calls, []
    cache_written, reasoning = more or (0, 0)
    return CallTally(
        calls=calls,
        input=tokens_in,
        output=tokens_out,
        cached=cached,
        cache_written=cache_written,
        reasoning=reasoning,
        uncounted=uncounted,
    )


def _line(
    day: int, model: str, price: Price | None, *, made: dict[float, CallTally], hits: CallTally
) -> AccountLine:
    """made: discount -> the calls at that discount."""
    return AccountLine(
        model=model,
        day=EPOCH + datetime.timedelta(days=day),
        made=sum(made.values(), CallTally()),
        hits=hits,
        spent_usd=sum_usd(tally_usd(tally, price, share) for share, tally in made.items()),
        saved_usd=tally_usd(hits, price),
    )


def _sum(
    lines: Iterable[AccountLine], *, model: str | None = None, day: datetime.date | None = None
) -> AccountLine:
    lines = list(lines)
    return AccountLine(
        model=model,
        day=day,
        made=sum((line.made for line in lines), CallTally()),
        hits=sum((line.hits for line in lines), CallTally()),
        spent_usd=sum_usd(line.spent_usd for line in lines),
        saved_usd=sum_usd(line.saved_usd for line in lines),
    )
