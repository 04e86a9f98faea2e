"""What a model does, found out by asking it: three small calls, and the file that keeps what they told."""

import datetime
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.config import Settings
from ragstone.errors import DataError
from ragstone.llm.door import Door
from ragstone.llm.keys import without_password
from ragstone.llm.prompt import CallFailed, Message, Prompt, Reply
from ragstone.llm.providers import provider_of
from ragstone.tables.private import make_folder
from ragstone.tables.storage import put_bytes

FILE = "models.json"


class ModelProbe(msgspec.Struct, frozen=True, kw_only=True):
    """What a model was found to do on a day (UTC).

    model: its name; address: where it was asked, empty for this process. latency_s: of a reply of one word.
    structured: whether replies fit a schema; form: how they are asked for, as json_schema, tool, json_object
    or text. logprobs: whether they come. reasoning: tokens that it thought for the replies of the probe,
    0 where it thinks not at all or does not tell. limit_field: by which it takes a longest reply.
    temperature: whether it takes one. None: not known.
    """

    model: str
    address: str
    day: datetime.date
    latency_s: float
    structured: bool
    form: str | None
    logprobs: bool | None
    reasoning: int
    limit_field: str | None
    temperature: bool | None

    @property
    def findings(self) -> str:
        """What was found, for people."""
        form = "" if self.form is None else f" by {self.form}"
        told = [f"replies in JSON{form}" if self.structured else "no reply in JSON that fits"]
        told += {None: [], True: ["log-probabilities"], False: ["no log-probabilities"]}[self.logprobs]
        thought = f"reasons ({self.reasoning:,} tokens in three replies)"
        told += [thought if self.reasoning else "no reasoning seen"]
        told += [f"limit by {self.limit_field}"] if self.limit_field else []
        told += {None: [], True: ["takes temperature"], False: ["takes no temperature"]}[self.temperature]
        return "; ".join(told)


async def probe_model(model: str, door: Door, settings: Settings) -> ModelProbe:
    """Return what a model does, asked by three small calls. Raises what `Door.ask` raises.

    A model whose replies do not fit a schema, or that has no log-probabilities, is no failure.
    """
    text = await door.ask(_prompt())
    structured = await _structured(door)
    logprobs = await _with_logprobs(door)
    replies = [reply for reply in (text, structured, logprobs) if reply is not None]
    dialect = door.endpoint.dialect() if door.endpoint.dialect else None
    return ModelProbe(
        model=model,
        address=address_of(model, settings),
        day=datetime.datetime.now(datetime.UTC).date(),
        latency_s=text.latency_s or 0.0,
        structured=structured is not None,
        form=dialect.way if dialect and structured else None,
        logprobs=logprobs.logprobs is not None if logprobs else None,
        reasoning=sum(reply.usage.reasoning for reply in replies),
        limit_field=dialect.tokens_field if dialect else None,
        temperature=dialect.temperature if dialect else None,
    )


def address_of(model: str, settings: Settings) -> str:
    """Return where a model is asked, without a password; empty where its transport knows.

    Raises ModelError for an unknown provider.
    """
    provider, _ = provider_of(model)
    return without_password(provider.address(settings.model(model)))


def keep_probe(folder: Path, identity: str, probe: ModelProbe) -> None:
    """Write a probe to the file of this folder; identity: the model as the ledger knows it."""
    probes = read_probes(folder)
    probes.pop(identity, None)
    path = folder / FILE
    try:
        make_folder(folder)
        put_bytes(msgspec.json.format(msgspec.json.encode(probes | {identity: probe}), indent=2), path)
    except OSError as mistake:
        raise DataError(
            f"{path}: cannot be written ({mistake.strerror}). Work in a writable folder."
        ) from None


def read_probes(folder: Path) -> dict[str, ModelProbe]:
    """Return what models were found to do, by their names in the ledger, the latest last; {} for no file."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, ModelProbe])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as mistake:
        raise DataError(
            f"{path}: cannot be read ({mistake}). Delete it; `ragstone doctor` writes it anew."
        ) from None


class _Verdict(msgspec.Struct):
    """The smallest reply that has a type."""

    verdict: Literal["yes", "no"]


def _prompt(**more: object) -> Prompt:
    words = Message("user", "Reply with the word yes.")
    return msgspec.structs.replace(Prompt(messages=(words,), max_tokens=8), **more)


async def _structured(door: Door) -> Reply | None:
    words = Message("user", 'Reply with the JSON object {"verdict": "yes"} and nothing else.')
    try:
        return await door.ask(Prompt(messages=(words,), reply=_Verdict, max_tokens=64))
    except CallFailed as failure:
        if failure.status != "unparsable":
            raise
        return None


async def _with_logprobs(door: Door) -> Reply | None:
    try:
        return await door.ask(_prompt(top_logprobs=1))
    except CallFailed:  # it answered without them: whatever was wrong now, it is of no use to them
        return None
