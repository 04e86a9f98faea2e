"""What a run has spent on calls, and the caps that it never exceeds."""

import asyncio
import contextlib
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.config import Price
from ragstone.kernel.errors import ConfigError, plural
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.records import Status, Usage

if TYPE_CHECKING:
    from ragstone.kernel.llm.limits import Shared
    from ragstone.kernel.llm.prompt import Completion, Prompt

# Each message costs a few tokens beside its text; a byte-level tokeniser never makes more tokens than bytes.
TOKENS_A_MESSAGE = 8
# Taken for a reply without a limit, to pace calls by; under a cap such a call is not made.
UNLIMITED = 4096
# What the error of a row begins with that the deadline of the run kept from being finished.
DEADLINE = "the deadline of the run"
SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """The most that a run may spend; None for no cap. `seconds` is the time that it may take."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


def parse_caps(text: str | None, deadline: str | None = None) -> Caps:
    """Return the caps of `--budget`: `100calls`, `50000tokens`, `2.50usd`, or several with commas.

    deadline: that of `--deadline`, e.g. `30m` or `1h30m`. Raises ConfigError for anything else.
    """
    caps: dict[str, float] = {} if deadline is None else {"seconds": parse_duration(deadline)}
    for part in (text or "").replace(" ", "").split(",") if text else ():
        match = re.fullmatch(r"\$?([\d_]+(?:\.\d+)?)(calls?|tokens?|usd|\$)?", part.casefold())
        if not match or (not match[2] and not part.startswith("$")):
            raise ConfigError(
                f"--budget {part!r}: give a number with a unit, e.g. 500calls, 200000tokens or 5usd."
            )
        unit = {"c": "calls", "t": "tokens"}.get((match[2] or "u")[0], "usd")
        caps[unit] = float(match[1]) if unit == "usd" else int(float(match[1]))
    return msgspec.convert(caps, Caps)


def parse_duration(text: str) -> float:
    """Return the seconds of a duration such as `90s`, `30m` or `1h30m`. Raises ConfigError."""
    parts = re.findall(r"(?<!\d)(\d++(?:\.\d++)?+)([hms])", text.strip().casefold())
    seconds = sum(float(number) * SECONDS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text.strip().casefold() or not seconds:
        raise ConfigError(f"--deadline {text!r}: give a time with its unit, e.g. 90s, 30m or 1h30m.")
    return seconds


def cost_usd(usage: Usage, price: Price | None) -> float | None:
    """Return what the tokens cost, None where the price is unknown (never 0)."""
    if price is None:
        return None
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.cache_write is None else price.cache_write
    thought = price.output if price.reasoning is None else price.reasoning
    cost = (usage.input - usage.cached - usage.cache_written) * price.input
    cost += usage.cached * cached + usage.cache_written * written
    cost += (usage.output - usage.reasoning) * price.output + usage.reasoning * thought
    return cost / 1e6


def cost_of(completions: Sequence["Completion"], price: Price | None) -> float | None:
    """Return what these completions cost: as they tell, else at the price; None where that is unknown."""
    costs = [
        cost_usd(completion.usage, discounted(price, completion.discount))
        if completion.cost_usd is None
        else completion.cost_usd
        for completion in completions
    ]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def discounted(price: Price | None, discount: float) -> Price | None:
    """Return the price less a share of it; an unknown one stays unknown."""
    if price is None or not discount:
        return price
    prices = msgspec.structs.asdict(price)
    left = {name: prices[name] for name in Price.__struct_fields__ if prices[name] is not None}
    return Price(**{name: amount * (1 - discount) for name, amount in left.items()})


def most_tokens(prompt: "Prompt") -> Usage:
    """Return the most tokens that a call can use, before it is made; schema and questions are read too."""
    n_bytes = sum(
        len(text) if (text := message.content).isascii() else len(text.encode("utf-8", "replace"))
        for message in prompt.messages
    )
    n_bytes += len(prompt.schema or b"")
    if prompt.questionnaire is not None:
        n_bytes += len(msgspec.json.encode(prompt.questionnaire))
    return Usage(input=n_bytes + TOKENS_A_MESSAGE * len(prompt.messages), output=prompt.limit or UNLIMITED)


class BudgetCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What a budget has counted; see Budget."""

    made: int = 0
    in_flight: int = 0
    from_ledger: int = 0
    retries: int = 0
    late: int = 0
    failed: dict[Status, int] = {}
    usage: Usage = Usage(calls=0)
    usd: float | None = 0.0
    reasoning_usd: float | None = 0.0
    cut_off: Usage = Usage(calls=0)
    cut_off_usd: float | None = 0.0
    tokens_most: int = 0
    usd_most: float = 0.0


class Budget:
    """Counts calls, tokens and money of one run, over all its models, against its caps.

    A call reserves the most that it can cost before it is sent and settles what it did cost. When only
    the reservations of calls in flight stand in the way, it waits for them. Threads may share one: embedders
    make their calls on an event loop of their own.
    """

    def __init__(self, caps: Caps | None = None, shared: "Shared | None" = None) -> None:
        """Make an empty one. shared: where a worker of a cluster reserves, so that caps hold for all."""
        self.caps = caps or Caps()
        self.shared = shared
        self.made = 0
        self.from_ledger = 0
        self.retries = 0
        self.late = 0
        self.failed: Counter[Status] = Counter()
        self.usage = Usage(calls=0)
        self.usd: float | None = 0.0
        self.reasoning_usd: float | None = 0.0
        # Replies that were cut off, and asked for again: in no row, and in no sum that a replay repeats.
        self.cut_off = Usage(calls=0)
        self.cut_off_usd: float | None = 0.0
        # On the clock of time.monotonic, which is the event loop's.
        self.ends = None if self.caps.seconds is None else time.monotonic() + self.caps.seconds
        self._spent = (0, 0.0)  # tokens and money of the calls made now, without those from the ledger
        self._elsewhere = 0  # calls in flight that others make for this run
        self._reserved: dict[int, tuple[int, float]] = {}
        self._held = (0, 0.0)  # the sum of what is reserved
        self._lock = threading.Lock()
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def in_flight(self) -> int:
        """How many calls are reserved and not settled."""
        return len(self._reserved) + self._elsewhere

    @property
    def is_capped(self) -> bool:
        """Whether a call must say what it can cost at most."""
        return self.caps.tokens is not None or self.caps.usd is not None

    @property
    def spent_usd(self) -> float | None:
        """What the calls made now cost, at most; None where a price is unknown."""
        return None if self.usd is None else self._spent[1]

    @property
    def spent_tokens(self) -> int:
        """The tokens of the calls made now, at most."""
        return self._spent[0]

    def check_time(self) -> None:
        """Raise CallFailed `timeout` when the deadline of the run has passed."""
        if self.ends is not None and time.monotonic() >= self.ends:
            raise self.too_late()

    def too_late(self) -> CallFailed:
        """Return the failure of a call that the deadline of the run cut off, and count it."""
        self.late += 1
        return CallFailed("timeout", f"{DEADLINE} ({self.caps.seconds:g} s) came before a reply")

    async def reserve(self, most: Usage, price: Price | None) -> int:
        """Return the number of a reservation of the most that a call can use.

        Raises CallFailed `over_budget` when a cap forbids it.
        """
        wanted = self._wanted(most, price)
        reservation = await self.reserve_most(*wanted)
        if self.shared is not None:
            try:
                await self.shared.reserve(reservation, *wanted)
            except BaseException:
                self.settle_used(reservation, 0, 0.0)
                self.shared.settle(reservation, 0, 0.0)  # cancelled while it was granted: give it back
                raise
        return reservation

    async def reserve_most(self, tokens: int, usd: float) -> int:
        """Return the number of a reservation of so much. Raises CallFailed as `reserve`."""
        wanted = (tokens, usd)
        while True:
            with self._lock:
                over = self._exceeded(wanted, self._held)
                if over is None:
                    return self._hold(wanted)
                if not self._reserved or self._exceeded(wanted, (0, 0.0)) is not None:
                    raise _over(over)
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
            await turn

    def reserve_now(self, most: Usage, price: Price | None) -> int:
        """Return the number of a reservation, without waiting for those in flight: a batch takes hours.

        Raises CallFailed `over_budget` when a cap and what is reserved forbid it.
        """
        return self.reserve_most_now(*self._wanted(most, price))

    def reserve_most_now(self, tokens: int, usd: float) -> int:
        """Return the number of a reservation of so much. Raises CallFailed as `reserve_now`."""
        wanted = (tokens, usd)
        with self._lock:
            over = self._exceeded(wanted, self._held)
            if over is not None:
                raise _over(over)
            return self._hold(wanted)

    def lost(self, failure: CallFailed) -> None:
        """Count a call that is given up."""
        with self._lock:
            self.failed[failure.status] += 1

    def retried(self) -> None:
        """Count an attempt that is made again."""
        with self._lock:
            self.retries += 1

    def _wanted(self, most: Usage, price: Price | None) -> tuple[int, float]:
        usd = cost_usd(most, price)
        if usd is None and self.caps.usd is not None:
            raise ConfigError(
                "--budget in usd needs the price of everything that is asked. Add to its table in "
                "ragstone.toml price_usd_per_million = { input = …, output = … }, or give the budget in "
                "calls or tokens."
            )
        return most.input + most.output, usd or 0.0

    def _hold(self, wanted: tuple[int, float]) -> int:
        self.made += 1
        self._reserved[self.made] = wanted
        self._held = (self._held[0] + wanted[0], self._held[1] + wanted[1])
        return self.made

    def settle(
        self, reservation: int, usage: Usage | None, price: Price | None, told_usd: float | None = None
    ) -> None:
        """Replace a reservation by what the call used: nothing (`calls=0`) for one that was refused.

        Where nobody knows (a timeout, a reply without token counts) it counts as the most it can be.
        told_usd: what the endpoint itself says that it cost, which goes before the price.
        """
        tokens_most, usd_most = self._reserved[reservation]
        if usage is None or (usage.calls and not usage.input + usage.output):
            used, cost = tokens_most, usd_most
        else:
            used, cost = usage.input + usage.output, cost_usd(usage, price) or 0.0
        usd = cost if told_usd is None else told_usd
        self.settle_used(reservation, used, usd)
        if self.shared is not None:
            self.shared.settle(reservation, used, usd)

    def settle_used(self, reservation: int, used: int, cost: float) -> None:
        """Replace a reservation by tokens and US dollars."""
        with self._lock:
            tokens_most, usd_most = self._reserved.pop(reservation)
            # Sums of floats drift, so an empty one starts anew.
            held = (self._held[0] - tokens_most, self._held[1] - usd_most)
            self._held = held if self._reserved else (0, 0.0)
            tokens, usd = self._spent
            self._spent = (tokens + used, usd + cost)
            waiting, self._waiting = self._waiting, []
        for turn in waiting:
            with contextlib.suppress(RuntimeError):  # its loop is closed: nobody waits any more
                turn.get_loop().call_soon_threadsafe(_wake, turn)

    def settle_unknown(self, reservation: int) -> None:
        """Count a reservation as spent: whoever made the call is gone, and it may have been paid for."""
        self.settle_used(reservation, *self._reserved[reservation])

    def spent(self) -> BudgetCounts:
        """Return what was counted so far."""
        with self._lock:
            return BudgetCounts(
                made=self.made,
                in_flight=self.in_flight,
                from_ledger=self.from_ledger,
                retries=self.retries,
                late=self.late,
                failed=dict(self.failed),
                usage=self.usage,
                usd=self.usd,
                reasoning_usd=self.reasoning_usd,
                cut_off=self.cut_off,
                cut_off_usd=self.cut_off_usd,
                tokens_most=self._spent[0],
                usd_most=self._spent[1],
            )

    def take_over(self, spent: BudgetCounts) -> None:
        """Go on from what others have counted, this budget's own counts among it."""
        with self._lock:
            self.made, self.from_ledger = spent.made, spent.from_ledger
            self.retries, self.late = spent.retries, spent.late
            self.failed = Counter(spent.failed)
            self.usage, self.usd, self.reasoning_usd = spent.usage, spent.usd, spent.reasoning_usd
            self.cut_off, self.cut_off_usd = spent.cut_off, spent.cut_off_usd
            self._spent = (spent.tokens_most, spent.usd_most)
            self._elsewhere = spent.in_flight

    def count(self, completion: "Completion", price: Price | None) -> None:
        """Count a completion that is used, made now or found in the ledger."""
        reasoning_usd: float | None = 0.0
        if n_thought := completion.usage.reasoning:
            thought = Usage(output=n_thought, reasoning=n_thought)
            reasoning_usd = cost_usd(thought, discounted(price, completion.discount))
        self.count_used(completion.usage, cost_of([completion], price), reasoning_usd)

    def discard(self, completion: "Completion", price: Price | None) -> None:
        """Count a response that was paid for, and that another one takes the place of at once."""
        with self._lock:
            cost = cost_of([completion], price)
            self.cut_off += completion.usage
            self.cut_off_usd = None if cost is None or self.cut_off_usd is None else self.cut_off_usd + cost

    def count_used(self, usage: Usage, usd: float | None, reasoning_usd: float | None = 0.0) -> None:
        """Count tokens that were used, and what they cost, those of reasoning also apart; None: unknown."""
        with self._lock:
            self.usage += usage
            self.usd = None if usd is None or self.usd is None else self.usd + usd
            known = reasoning_usd is not None and self.reasoning_usd is not None
            self.reasoning_usd = (self.reasoning_usd or 0.0) + (reasoning_usd or 0.0) if known else None

    def _exceeded(self, wanted: tuple[int, float], held: tuple[int, float]) -> str | None:
        """Return the cap that would be exceeded, in words, or None."""
        if self.caps.calls is not None and self.made >= self.caps.calls:
            return plural(self.caps.calls, "call")
        if self.caps.tokens is not None and self._spent[0] + wanted[0] + held[0] > self.caps.tokens:
            return plural(self.caps.tokens, "token")
        if self.caps.usd is not None and self._spent[1] + wanted[1] + held[1] > self.caps.usd:
            return f"{self.caps.usd} USD"
        return None


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


def _over(cap: str) -> CallFailed:
    return CallFailed("over_budget", f"the budget of {cap} does not allow another call")


def sum_usd(amounts: Iterable[float | None]) -> float | None:
    """Return the sum; None if one of the amounts is unknown."""
    known = list(amounts)
    return None if None in known else math.fsum(amount for amount in known if amount is not None)
