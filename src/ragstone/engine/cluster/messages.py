"""What workers and the desk say to each other: small values, many of them in one message of Ray."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from ragstone.llm.budget import Spent
from ragstone.llm.prompt import Completion
from ragstone.records import Status

# --- to the desk. `n` is the worker's number of a question, to which an answer carries the same.


class _Message(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Encoded as an array, whose first item is the name of its type."""


class Find(_Message, frozen=True):
    """Is there a response stored `since` then? If not and `claim`, it is this worker's turn to call."""

    n: int
    key: bytes
    claim: bool
    saved: bool
    since: float = 0.0


class Put(_Message, frozen=True):
    """Keep a response, in place of another one where it is `renewed`; who waits for it is given it."""

    n: int
    key: bytes
    model: str
    completion: Completion
    renewed: bool = False


class Release(_Message, frozen=True):
    """A claimed call came to nothing: it is somebody else's turn."""

    key: bytes


class Reserve(_Message, frozen=True):
    """May a call be made that uses so much at most? n: 0 where nobody waits for an answer."""

    n: int
    number: int
    tokens: int
    usd: float


class Settle(_Message, frozen=True):
    """A reserved call is over."""

    number: int
    tokens: int
    usd: float


class Counted(_Message, frozen=True):
    """All that this worker has counted since it began; what it reserved is counted by the desk."""

    spent: Spent


class Asks(_Message, frozen=True):
    """This worker asks an endpoint from now on, which bears so much."""

    endpoint: str
    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None


class Wants(_Message, frozen=True):
    """Calls that could be made at once; those that are allowed or under way; the last share heard of."""

    endpoint: str
    wanted: int
    held: int
    heard: int


class Went(_Message, frozen=True):
    """So many calls were answered."""

    endpoint: str
    accepted: int


class Refused(_Message, frozen=True):
    """The endpoint said that it is too much."""

    endpoint: str


class Paused(_Message, frozen=True):
    """The endpoint asked to be left alone for so long."""

    endpoint: str
    seconds: float


class Failed(_Message, frozen=True):
    """An attempt failed, or with `lost` a call after all its attempts. kind: of the exception."""

    endpoint: str
    kind: Literal["CallFailed", "Unreachable", "AppFailed"]
    status: Status
    text: str
    lost: bool


class Broken(_Message, frozen=True):
    """No call to this endpoint can succeed."""

    endpoint: str
    kind: str
    text: str


class AskTurn(_Message, frozen=True):
    """When may so many units be spent, of the calls or of the tokens that a minute has?"""

    n: int
    endpoint: str
    of: Literal["calls", "tokens"]
    units: float


class Flush(_Message, frozen=True):
    """Is all that was said before this taken in?"""

    n: int


class Met(_Message, frozen=True):
    """A model was opened. identity: its name in the ledger; list_price: when that was read, if it has one."""

    model: str
    identity: str
    list_price: str | None


ToDesk = (
    Find
    | Put
    | Release
    | Reserve
    | Settle
    | Counted
    | Asks
    | Wants
    | Went
    | Refused
    | Paused
    | Failed
    | Broken
    | AskTurn
    | Met
    | Flush
)


# --- to a worker


class FindAnswer(_Message, frozen=True):
    """Answer to Find and Put. completion: None where it is the worker's turn, or the response was kept."""

    n: int
    completion: Completion | None = None


class Granted(_Message, frozen=True):
    """Answer to Reserve, Turn and Heard."""

    n: int


class Wrong(_Message, frozen=True):
    """Answer to any question: an error by the name of its type; status: of a CallFailed."""

    n: int
    kind: str
    text: str
    status: Status = "error"


class SlotShare(_Message, frozen=True):
    """So many calls to an endpoint may this worker make at once. number: counts the shares it is told."""

    endpoint: str
    number: int
    slots: int


class Pause(_Message, frozen=True):
    """Nobody begins a call for so long."""

    endpoint: str
    seconds: float


class Works(_Message, frozen=True):
    """The endpoint has answered somebody."""

    endpoint: str


class CircuitOpened(_Message, frozen=True):
    """No more calls to this endpoint, and why."""

    endpoint: str
    kind: str
    text: str


class Halt(_Message, frozen=True):
    """The run was stopped: begin no call."""


ToWorker = FindAnswer | Granted | Wrong | SlotShare | Pause | Works | CircuitOpened | Halt

encode = msgspec.msgpack.Encoder().encode
_to_desk = msgspec.msgpack.Decoder(list[ToDesk])
_to_worker = msgspec.msgpack.Decoder(list[ToWorker])


def read_to_desk(payload: bytes) -> list[ToDesk]:
    """Return the messages of a worker, in order."""
    return _to_desk.decode(payload) if payload else []


def read_to_worker(payload: bytes) -> list[ToWorker]:
    """Return the messages of the desk, in order."""
    return _to_worker.decode(payload) if payload else []


def write(messages: Iterable[object]) -> bytes:
    """Return messages as they are sent; nothing for none."""
    told = list(messages)
    return encode(told) if told else b""
