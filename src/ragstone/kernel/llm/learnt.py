"""What was learnt of a model by asking it: kept in a project, so that no command pays for it again.

An endpoint of which nothing is known is asked once first. That call finds out which fields and which form
of a request it takes, and how much room the model needs to think in; all others wait for it, and are then
sent as it takes them. What it found is in `.ragstone/models.json`, by model and address: no key, no text.
"""

import asyncio
import contextlib
import datetime
import functools
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.llm._reasoning import MOST, Room
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.prompt import Prompt
from ragstone.kernel.llm.transport import Dialect
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.tables.state import read_state, write_state

FILE = "models.json"
KEPT_DAYS = 30  # models and gateways change, and a form that was refused may be taken by now
LEARNT = "learnt"  # the field of an entry that holds it, beside what `ragstone doctor` found
WAIT_S = 2.0  # for another command that writes the file
LEADERS = 3  # calls that go ahead one after the other while each is refused for a reason of its own

LOG = logging.getLogger(__name__)
Entries = dict[str, dict[str, Any]]


class Learnt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a model is asked, learnt on a day (UTC).

    kinds: of requests that it answered, see kind_of. room: tokens that it is given to think in. form: how it
    is asked for JSON, in the words of its transport. tokens_field: by which it takes a longest reply;
    most_tokens: the highest that it takes. temperature, top_p, logprobs: whether it takes them.
    """

    day: datetime.date
    kinds: tuple[str, ...] = ()
    room: Annotated[int, msgspec.Meta(ge=0, le=MOST)] = 0
    form: str | None = None
    tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    most_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    temperature: bool = True
    top_p: bool = True
    logprobs: bool = True

    @property
    def findings(self) -> str:
        """What was learnt, for people."""
        parts = [f"replies in JSON by {self.form}"] if self.form else []
        parts += [f"limit by {self.tokens_field}"]
        parts += [f"at most {self.most_tokens:,} tokens per reply"] if self.most_tokens else []
        parts += [f"{self.room:,} tokens to think in"] if self.room else []
        refused = {"temperature": self.temperature, "top_p": self.top_p, "log-probabilities": self.logprobs}
        parts += [f"takes no {name}" for name, taken in refused.items() if not taken]
        return "; ".join(parts)


def kind_of(prompt: Prompt) -> frozenset[str]:
    """Return what of a request an endpoint may refuse: one that has taken the same takes it again."""
    parts = {
        "text": prompt.reply is None,
        "json": prompt.reply is not None,
        "limit": prompt.max_tokens is not None,
        "temperature": prompt.temperature is not None,
        "top_p": prompt.top_p is not None,
        "logprobs": prompt.top_logprobs is not None,
    }
    return frozenset(name for name, has in parts.items() if has)


class FirstCall:
    """Lets one call of a kind that is new go ahead alone; the others wait for what it teaches.

    They wait no longer than wait_s, and no longer than until an attempt shows that the endpoint is in
    trouble: then each learns for itself. Where its reply cannot be stored, they fail as it does.
    """

    def __init__(self, known: frozenset[str], wait_s: float) -> None:
        """known: kinds of requests that were answered before."""
        self._known, self._wait_s = known, wait_s
        self._ahead: asyncio.Future[None] | None = None
        self._n_failed = 0

    def knows(self, kind: frozenset[str]) -> bool:
        """Return whether a call of this kind was answered: none has to wait for another."""
        return kind <= self._known

    @contextlib.asynccontextmanager
    async def turn(self, kind: frozenset[str]) -> AsyncIterator[Callable[[CallFailed], None]]:
        """Make a call within the block, when it is its turn; what is given is told of a failed attempt."""
        mine = await self._taken(kind)
        try:
            yield lambda failure: self._failed(mine, kind, failure)
        except asyncio.CancelledError:
            self._over(mine, frozenset())
            raise
        except CallFailed as failure:
            self._failed(mine, kind, failure)
            self._over(mine, frozenset())  # refused for a reason of its own: the next one goes ahead
            raise
        except (
            Exception
        ) as fault:  # of the ledger, not of the call: it ends the run, so the others cost nothing
            self._over(mine, frozenset(), fault)
            raise
        self._over(mine, kind)

    async def _taken(self, kind: frozenset[str]) -> asyncio.Future[None] | None:
        """Return what the others wait for, None for a call that is not the first."""
        while not kind <= self._known:
            if self._ahead is None:
                self._ahead = asyncio.get_running_loop().create_future()
                return self._ahead
            ahead = self._ahead
            try:
                async with asyncio.timeout(self._wait_s):
                    await asyncio.shield(ahead)
            except TimeoutError:
                self._over(ahead, kind)
        return None

    def _failed(self, mine: asyncio.Future[None] | None, kind: frozenset[str], failure: CallFailed) -> None:
        if mine is not None and mine is self._ahead:
            self._n_failed += 1
            if failure.retryable or self._n_failed >= LEADERS:
                self._over(mine, kind)

    def _over(
        self, mine: asyncio.Future[None] | None, kind: frozenset[str], fault: Exception | None = None
    ) -> None:
        """Let the others go, or give them the same fault."""
        if mine is None or mine is not self._ahead:
            return
        self._known |= kind
        self._ahead = None
        if fault is None:
            mine.set_result(None)
        else:
            mine.set_exception(fault)
            mine.exception()  # nobody may be waiting; that is no error


class LearntStore(NamedTuple):
    """Gives what is known of models, and keeps fields of one's entry: a file's, or by a cluster's driver."""

    read: Callable[[], Entries]
    keep: Callable[[str, Mapping[str, object]], None]


def learnt_in_folder(folder: Path) -> LearntStore:
    """Return the store of a folder `.ragstone`."""
    return LearntStore(functools.partial(read_entries, folder), functools.partial(keep_entry, folder))


class ModelMemory:
    """What is known of one model at one address."""

    def __init__(
        self,
        store: LearntStore,
        identity: str,
        extra: Mapping[str, Any],
        *,
        today: Callable[[], datetime.date] | None = None,
    ) -> None:
        """identity: the model as the ledger knows it. extra: fields of all its requests, which may change how
        it behaves. today: returns the day in UTC.
        """
        self._store = store
        digest = hashlib.blake2b(msgspec.json.encode(extra, order="deterministic"), digest_size=6).hexdigest()
        self._name = f"{identity}#{digest}" if extra else identity
        self._today = today or utc_today
        self._kept: Learnt | None = None

    def recall(self, dialect: Dialect, room: Room) -> frozenset[str]:
        """Take over what an earlier command learnt; return the kinds of requests that were answered.

        A file that is damaged is ignored with a word.
        """
        known = _learnt_in(self._store.read().get(self._name, {}))
        age = None if known is None else (self._today() - known.day).days
        if known is None or age is None or not 0 <= age < KEPT_DAYS:
            return frozenset()
        self._kept = known
        room.recall(known.room)
        dialect.recall(
            known.form,
            tokens_field=known.tokens_field,
            most_tokens=known.most_tokens,
            temperature=known.temperature,
            top_p=known.top_p,
            logprobs=known.logprobs,
        )
        return frozenset(known.kinds)

    def answered(self, kind: frozenset[str], dialect: Dialect, room: Room) -> None:
        """Keep what is known now, where it is new. A folder that cannot be written to is no error."""
        before = self._kept
        form = dialect.way if dialect.proven_mode is not None else None
        now = Learnt(
            day=before.day if before else self._today(),
            kinds=tuple(sorted(kind.union(before.kinds if before else ()))),
            room=room.learnt,
            form=form or (before.form if before else None),
            tokens_field="max_tokens" if dialect.tokens_field == "max_tokens" else "max_completion_tokens",
            most_tokens=dialect.most_tokens,
            temperature=dialect.temperature,
            top_p=dialect.top_p,
            logprobs=dialect.logprobs,
        )
        if now == before:
            return
        self._kept = msgspec.structs.replace(now, day=self._today())
        with contextlib.suppress(DataError, OSError):
            self._store.keep(self._name, {LEARNT: self._kept})


def utc_today() -> datetime.date:
    """Return the day in UTC."""
    return datetime.datetime.now(datetime.UTC).date()


def learnt_in(entries: Entries) -> dict[str, Learnt]:
    """Return what was learnt of models, by their names in the ledger; those with `extra` have its digest."""
    known = {name: _learnt_in(entry) for name, entry in entries.items()}
    return {name: learnt for name, learnt in known.items() if learnt is not None}


def read_entries(folder: Path) -> Entries:
    """Return what the file of models holds, by their names; {} where it is not there or damaged."""
    try:
        return read_state(folder / FILE, Entries, "ragstone doctor") or {}
    except DataError as mistake:
        LOG.warning("%s Until then, what was learnt about models is learnt again.", mistake)
        return {}


def keep_entry(folder: Path, name: str, fields: Mapping[str, object]) -> None:
    """Write some fields of a model's entry into the file, and leave all others. Raises DataError."""
    path = folder / FILE
    make_folder(folder)
    with held(path, WAIT_S):  # several commands share the file: none undoes what another wrote
        entries = read_entries(folder)
        entry = {**entries.pop(name, {}), **fields}
        write_state(path, {**entries, name: entry})


def _learnt_in(entry: Mapping[str, Any]) -> Learnt | None:
    try:
        return msgspec.convert(entry[LEARNT], Learnt)
    except (KeyError, msgspec.ValidationError):
        return None
