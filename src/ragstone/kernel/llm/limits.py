"""How fast an endpoint may be asked, by one caller or by those of several machines; and when to give up."""

import asyncio
import contextlib
import random
import re
import time
from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Protocol

import msgspec

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm.failures import AppFailed, CallFailed, Unreachable

BACKOFF_S = 0.5
BACKOFF_CAP_S = 30.0
GROWTH = 2.0  # calls at once that a whole round of accepted ones adds
SPREAD_S = 1.0  # the longest time over which callers come back after a pause
SLACK = 1.02  # permits are a little further apart than they may be, for timers are not exact
HANGING = 8  # timeouts before the first answer that mean: nobody will ever answer
# `"retryDelay": "13s"` (Google; quoted by who stands before it), `try again in 1h1m2.5s` (OpenAI, Groq),
# `retry after 45 seconds` (Azure).
SPAN = r"(?:(\d{1,3})h)?(?:(\d{1,4})m)?(\d{1,6}(?:\.\d{1,9})?)(ms|s)\b"
IN_BODY = re.compile(
    rf'(?:"retryDelay\\*":\s*\\*"|(?:try again in|retry in) ){SPAN}|retry after (\d{{1,6}}) seconds'
)
LONGEST_S = 365 * 86_400.0  # that anybody is told to wait
LOST_IN_A_ROW = 30  # calls lost after all their attempts, and none answered between them


class Slots:
    """At most `highest` calls at once, fewer after the endpoint said that it is too much.

    Additive increase, and a decrease in proportion to the share of calls that are refused (as DCTCP,
    Alizadeh et al. 2010): a whole round of refusals halves the number, one in twenty costs little. Used
    as `async with slots:`.
    """

    def __init__(self, highest: int) -> None:
        self._highest = highest
        self.allowed = float(highest)
        self.refused_in_a_row = 0
        self.in_use = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self.in_use < int(self.allowed) and not self._queue:
            self.in_use += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            else:
                with contextlib.suppress(ValueError):  # it may have been passed over already
                    self._queue.remove(turn)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def accepted(self) -> None:
        """The endpoint answered: a little more is tried."""
        self.refused_in_a_row = 0
        self.allowed = min(self._highest, self.allowed + GROWTH / self.allowed)

    def refused(self) -> None:
        """The endpoint is overloaded: a round of as many refusals as there are slots leaves half of them."""
        self.refused_in_a_row += 1
        self.allowed = max(1.0, self.allowed - 0.5)

    @property
    def wanted(self) -> int:
        """How many calls there would be at once without a limit."""
        return self.in_use + len(self._queue)

    def allow(self, allowed: float) -> None:
        """Let so many calls be made at once from now on; those under way end when they end."""
        self.allowed = allowed
        self._begin()

    def _leave(self) -> None:
        self.in_use -= 1
        self._begin()

    def _begin(self) -> None:
        while self._queue and self.in_use < int(self.allowed):
            turn = self._queue.popleft()
            if not turn.done():
                self.in_use += 1
                turn.set_result(None)


class Pace:
    """Evenly spaced permits: `per_minute` units a minute, no burst, none during a pause asked for."""

    def __init__(self, per_minute: float | None, draw: random.Random) -> None:
        self.limited = per_minute is not None
        self._seconds_each = 60 / per_minute * SLACK if per_minute else 0.0
        self._next = 0.0
        self._resume = 0.0
        self._spread_s = 0.0
        self._draw = draw

    async def wait(self, units: float = 1.0) -> None:
        """Return when `units` more may be spent."""
        while (wait_s := self.take(units)) > 0:
            spread = 0.0 if self._seconds_each else self._draw.uniform(0, self._spread_s)
            await asyncio.sleep(wait_s + spread)
            if asyncio.get_running_loop().time() >= self._resume:
                return  # else a pause began meanwhile, and this permit is void

    def take(self, units: float = 1.0) -> float:
        """Take the next permit for `units`; return in how many seconds it begins."""
        now = asyncio.get_running_loop().time()
        start = max(self._next, now, self._resume)
        self._next = start + units * self._seconds_each
        return start - now

    def pause(self, seconds: float) -> None:
        """Let nobody start for so long (Retry-After), and not all at once when it is over."""
        resume = asyncio.get_running_loop().time() + seconds
        if resume > self._resume:
            self._resume, self._spread_s = resume, min(SPREAD_S, seconds / 4)


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How long an endpoint that fails is tried.

    attempts: of one call; while the endpoint has never answered `unproven`, after timeouts `timeouts`.
    longest_wait_s: between two of them; a call whose endpoint asks for more is given up. lost_in_a_row: calls
    given up, none answered between them, after which no more are made. closes_after_s: when one call may
    find out whether the endpoint works again; None: never, for a run is started again by its user.
    """

    attempts: int = 6
    # While the endpoint has never answered, it is more likely wrong than busy; and a timeout costs a minute.
    unproven: int = 3
    timeouts: int = 3
    longest_wait_s: float = 120.0
    lost_in_a_row: int = LOST_IN_A_ROW
    closes_after_s: float | None = None


RUN = RetryPolicy()
# Somebody waits for the reply, and others come after: a try or two, and the next user finds it working again.
SERVING = RetryPolicy(
    attempts=3, unproven=2, timeouts=1, longest_wait_s=2.0, lost_in_a_row=3, closes_after_s=5.0
)
RECOVERING = RetryPolicy(closes_after_s=5.0)


class CallsStopped(ModelError):
    """The run was stopped before this call was made: not the fault of the model, and no failure of a row."""


class GivenUp(ModelError):
    """So many calls in a row came to nothing that no more are made: the endpoint hangs, or has gone away."""


class Circuit:
    """Opens when nothing more can be expected of the endpoint; from then on every call fails at once.

    With `closes_after_s` one call in so many seconds is let through, and an answer closes it again.
    """

    def __init__(self, retry_policy: RetryPolicy = RUN) -> None:
        self.has_answered = False
        self._retry_policy = retry_policy
        self._tries_at = 0.0
        self._why: ModelError | None = None
        self._stopped = False
        self._n_timeouts = 0
        self._n_lost = 0

    def check(self) -> None:
        """Raise ModelError if the circuit is open."""
        if self._stopped:
            raise CallsStopped("the run was stopped before this call was made")
        if self._why is not None:
            raise type(self._why)(str(self._why))

    @property
    def why(self) -> ModelError | None:
        """Why it is open; None where it is not."""
        return self._why

    def tries_again(self) -> bool:
        """Return whether this caller is the one to find out if the endpoint works again."""
        if (
            self._why is None
            or self._retry_policy.closes_after_s is None
            or time.monotonic() < self._tries_at
        ):
            return False
        self._tries_at = time.monotonic() + self._retry_policy.closes_after_s
        return True

    def stop(self) -> None:
        """Let no more calls pass; their callers are told CallsStopped."""
        self._stopped = True

    def open(self, why: ModelError) -> None:
        """Let no more calls pass; `why` is what their callers are told."""
        if self._retry_policy.closes_after_s is None:
            self._why = self._why or why
        else:
            self._why, self._tries_at = why, time.monotonic() + self._retry_policy.closes_after_s

    def answered(self) -> None:
        """The endpoint works."""
        self.has_answered = True
        self._n_lost = 0
        if self._retry_policy.closes_after_s is not None:
            self._why = None

    def attempt_failed(self, failure: CallFailed) -> None:
        """Count a failed attempt. Raises ModelError if the endpoint has done nothing but hang."""
        if failure.status == "timeout" and not self.has_answered:
            self._n_timeouts += 1
            if self._n_timeouts >= HANGING:
                self.open(
                    GivenUp(
                        f"{failure}; nor did it answer any other call so far. Is the model loaded? If it is "
                        "only slow, raise timeout_s in its table, or lower max_concurrency."
                    )
                )
        self._check_for_all()

    def call_lost(self, failure: CallFailed) -> None:
        """Count a call that is given up. Raises ModelError if there is no hope for the others."""
        if isinstance(failure, AppFailed):
            return
        if isinstance(failure, Unreachable) and not self.has_answered:
            self.open(ModelError(str(failure)))
        self._n_lost += 1
        if self._n_lost >= self._retry_policy.lost_in_a_row:
            self.open(GivenUp(f"{self._n_lost} calls in a row were given up, {self._what_next(failure)}"))
        self._check_for_all()

    def _what_next(self, failure: CallFailed) -> str:
        because = f"the last because: {str(failure).rstrip('.')}."
        if self._retry_policy.closes_after_s is not None:
            return f"{because} It is tried again every {self._retry_policy.closes_after_s:g} s."
        return (
            f"{because} Finished calls are in the ledger: run the same command again when the endpoint works."
        )

    def _check_for_all(self) -> None:
        """Raise ModelError if the calls that follow have no hope; who serves tells each its own failure."""
        if self._retry_policy.closes_after_s is None:
            self.check()


def backoff_s(attempt: int, draw: random.Random) -> float:
    """Return how long to wait after failed attempt number `attempt` (from 0): full jitter, doubling."""
    return draw.uniform(0, min(BACKOFF_CAP_S, BACKOFF_S * 2**attempt))


def retry_after_s_of(headers: Mapping[str, str], body: str = "") -> float | None:
    """Return the seconds that an endpoint asks to be left alone for; None where it does not say.

    Told in a header, as milliseconds, seconds or a date, or else in the body of the error. A date that is
    past is 0, and more than a year is a year.
    """
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return min(millis / 1000, LONGEST_S)
    header = headers.get("Retry-After")
    if header:
        seconds = _number(header)
        if seconds is None:
            seconds = _seconds_until(header, headers.get("Date"))
        return None if seconds is None else min(seconds, LONGEST_S)
    match = IN_BODY.search(body)
    if match is None:
        return None
    hours, minutes, amount, unit, alone = match.groups()
    return (
        3600 * float(hours or 0)
        + 60 * float(minutes or 0)
        + float(amount or alone) / (1000 if unit == "ms" else 1)
    )


def _seconds_until(date: str, sent: str | None) -> float | None:
    """Return how long it is until a date of HTTP, None where it is none.

    sent: the date of the response. It counts before our own clock, which may be wrong, or set back meanwhile.
    """
    until = _moment(date)
    if until is None:
        return None
    now = _moment(sent or "")
    return max(0.0, until - (time.time() if now is None else now))


def _moment(date: str) -> float | None:
    import email.utils  # few replies have a date to be read

    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def wait_text(seconds: float) -> str:
    """Return a wait in words: `90 s`, `2 h`, `a year or more`."""
    if seconds >= LONGEST_S:
        return "a year or more"
    units = ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min"))
    size, unit = next(((size, unit) for size, unit in units if seconds >= 3 * size), (1.0, "s"))
    return f"{seconds / size:.0f} {unit}"


def _number(text: str | None) -> float | None:
    """Return a number that is not negative; None for anything else."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(0.0, number) if number == number else None  # NaN differs from itself


class AnySlots(Protocol):
    """As limits.Slots."""

    @property
    def refused_in_a_row(self) -> int:
        """Refusals since the endpoint last answered."""

    async def __aenter__(self) -> None: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def accepted(self) -> None:
        """The endpoint answered."""

    def refused(self) -> None:
        """The endpoint is overloaded."""


class AnyPace(Protocol):
    """As limits.Pace."""

    @property
    def limited(self) -> bool:
        """Whether there are so many units a minute at most."""

    async def wait(self, units: float = 1.0) -> None:
        """Return when `units` more may be spent."""

    def pause(self, seconds: float) -> None:
        """Let nobody start for so long."""


class AnyCircuit(Protocol):
    """As limits.Circuit."""

    @property
    def has_answered(self) -> bool:
        """Whether the endpoint ever answered."""

    def check(self) -> None:
        """Raise ModelError if the circuit is open."""

    def tries_again(self) -> bool:
        """Return whether this caller is the one to find out if the endpoint works again."""

    def stop(self) -> None:
        """Let no more calls pass."""

    def open(self, why: ModelError) -> None:
        """Let no more calls pass; `why` is what their callers are told."""

    def answered(self) -> None:
        """The endpoint works."""

    def attempt_failed(self, failure: CallFailed) -> None:
        """Count a failed attempt."""

    def call_lost(self, failure: CallFailed) -> None:
        """Count a call that is given up."""


class Limits(msgspec.Struct, frozen=True):
    """How fast one endpoint may be asked: calls at once, calls and tokens a minute, and when to give up."""

    slots: AnySlots
    calls: AnyPace
    tokens: AnyPace
    circuit: AnyCircuit


class Shared(Protocol):
    """What a worker's budget and callers take from those of all."""

    async def reserve(self, number: int, tokens: int, usd: float) -> None:
        """Reserve the most that a call can use, under a number of the caller's own.

        Raises CallFailed `over_budget` when a cap forbids it.
        """

    def settle(self, number: int, tokens: int, usd: float) -> None:
        """Replace a reservation by what the call used."""

    def limits(self, endpoint: str, concurrency: int, settings: ModelSettings) -> Limits:
        """Return the limits of an endpoint, which hold for all who ask it."""


def own_limits(
    concurrency: int, settings: ModelSettings, retry_policy: RetryPolicy, draw: random.Random
) -> Limits:
    """Return limits of an endpoint that hold for this caller alone."""
    return Limits(
        Slots(concurrency),
        Pace(settings.requests_per_minute, draw),
        Pace(settings.tokens_per_minute, draw),
        Circuit(retry_policy),
    )
