"""The models that can be named here, of whom nobody is asked; and what one does, found out by asking it."""

import contextlib
import datetime
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.kernel.config import ModelSettings, Price, Settings, load_settings
from ragstone.kernel.errors import ModelError, checks_arguments
from ragstone.kernel.llm.door import Door, open_door
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.keys import find_key, without_password
from ragstone.kernel.llm.learnt import Entries, Learnt, keep_entry, learnt_in, read_entries
from ragstone.kernel.llm.llamacpp import PACKAGED, cached_models, resolve_gguf
from ragstone.kernel.llm.prompt import Message, Prompt, Reply
from ragstone.kernel.llm.providers import (
    Can,
    ListPrice,
    Provider,
    at_url,
    decides,
    list_price,
    list_prices,
    provider_of,
    providers,
)
from ragstone.kernel.llm.questionnaire import Questionnaire, TypedQuestion
from ragstone.kernel.llm.response_store import MemoryLedger

SAME_CHANCE = 0.005  # endpoints round to two decimals
PROBE = (
    TypedQuestion(name="q1", type="predicate", text="According to `note`, the meeting is on Thursday."),
    TypedQuestion(name="q2", type="predicate", text="`note` is about the weather."),
    TypedQuestion(
        name="q3",
        type="choice",
        text="Who decides, according to `note`?",
        options=(("Anna", ""), ("somebody else", "")),
    ),
    TypedQuestion(
        name="q4",
        type="score",
        text="How definite is `note`?",
        options=(("0", "it settles nothing"), ("1", "it settles a part"), ("2", "it settles all")),
    ),
)


class ModelProbe(msgspec.Struct, frozen=True, kw_only=True):
    """What a model was found to do on a day (UTC).

    model: its name; address: where it was asked, empty for this process. latency_s: of a reply of one word.
    structured: whether replies fit a schema; form: how they are asked for, as json_schema, tool, json_object
    or text. logprobs: whether they come. reasoning: tokens that it thought for the replies of the probe,
    0 where it thinks not at all or does not tell. limit_field: by which it takes a longest reply.
    temperature: whether it takes one. None: not known. moved: of a decision model, by how much a probability
    changed when the question was asked among others; None for a model that writes.
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
    moved: float | None = None

    @property
    def findings(self) -> str:
        """What was found, for people."""
        if self.moved is not None:
            alone = (
                f"one question has the same probability, within {SAME_CHANCE:g}, alone and among three others"
                if self.moved < SAME_CHANCE
                else f"one question's probability moved by {self.moved:.2f} when it was asked among three "
                "others: judges that are asked in one request may influence each other"
            )
            return f"decision model: probabilities, no text; {alone}"
        form = "" if self.form is None else f" by {self.form}"
        parts = [f"replies in JSON{form}" if self.structured else "no reply in JSON that fits"]
        parts += {None: [], True: ["log-probabilities"], False: ["no log-probabilities"]}[self.logprobs]
        thought = f"reasons ({self.reasoning:,} tokens in three replies)"
        parts += [thought if self.reasoning else "no reasoning seen"]
        parts += [f"limit by {self.limit_field}"] if self.limit_field else []
        parts += {None: [], True: ["takes temperature"], False: ["takes no temperature"]}[self.temperature]
        return "; ".join(parts)


async def probe_model(model: str, settings: Settings) -> ModelProbe:
    """Return what a model does, asked by three small calls past the ledger, and keep it in the project.

    A model whose replies do not fit a schema, or that has no log-probabilities, is no failure. Raises
    ModelError for one that cannot be asked, and DataError where the file cannot be written.
    """
    if decides(model, settings.model(model)):
        return await _probe_decisions(model, settings)
    async with open_door(model, settings, MemoryLedger()) as door:
        text = await door.ask(_prompt())
        structured = await _structured(door)
        try:
            logprobs = await door.ask(_prompt(top_logprobs=1))
        except CallFailed:  # it answered without them: whatever was wrong now, it is of no use to them
            logprobs = None
    replies = [reply for reply in (text, structured, logprobs) if reply is not None]
    known = door.endpoint.dialect
    dialect = None if known is None or known.partial else known.copy()
    probe = ModelProbe(
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
    keep_probe(settings.path(".ragstone"), door.endpoint.identity, probe)
    return probe


async def _probe_decisions(model: str, settings: Settings) -> ModelProbe:
    """Return what a decision model does, asked one question alone, then among others."""
    latency_s, chances = 0.0, []
    async with open_door(model, settings, MemoryLedger()) as door:
        for questions in (PROBE[:1], PROBE):
            prompt = Prompt(
                messages=(Message("user", "The meeting may move to Thursday, if Anna agrees."),),
                questionnaire=Questionnaire(inputs=("note",), questions=questions),
                max_tokens=128,
                default_temperature=None,
            )
            reply = await door.ask(prompt)
            problem = next((answer.problem for answer in reply.value if answer.problem), None)
            if problem is not None:
                raise ModelError(f"{model} breaks the protocol of its endpoint: {problem}")
            latency_s = latency_s or reply.latency_s or 0.0
            chances.append(reply.value[0].probabilities[0])
    probe = ModelProbe(
        model=model,
        address=address_of(model, settings),
        day=datetime.datetime.now(datetime.UTC).date(),
        latency_s=latency_s,
        structured=False,
        form=None,
        logprobs=None,
        reasoning=0,
        limit_field=None,
        temperature=None,
        moved=abs(chances[0] - chances[1]),
    )
    keep_probe(settings.path(".ragstone"), door.endpoint.identity, probe)
    return probe


def address_of(model: str, settings: Settings) -> str:
    """Return where a model is asked, without a password; empty where its transport knows.

    Raises ModelError for an unknown provider.
    """
    provider, name = provider_of(model)
    return without_password(provider.address(at_url(name, settings.model(model))[1]))


def keep_probe(folder: Path, identity: str, probe: ModelProbe) -> None:
    """Write a probe to the file of this folder; identity: the model as the ledger knows it."""
    keep_entry(folder, identity, msgspec.to_builtins(probe))


def read_probes(folder: Path) -> dict[str, ModelProbe]:
    """Return what models were found to do, by their names in the ledger, the latest last; {} for no file."""
    return _probes_in(read_entries(folder))


def _probes_in(entries: Entries) -> dict[str, ModelProbe]:
    probes = {}
    for name, entry in entries.items():
        with contextlib.suppress(msgspec.ValidationError):  # an entry that only holds what was learnt
            probes[name] = msgspec.convert(entry, ModelProbe)
    return probes


class _Verdict(msgspec.Struct):
    """The smallest reply that has a type."""

    verdict: Literal["yes", "no"]


def _prompt(**more: object) -> Prompt:
    message = Message("user", "Reply with the word yes.")
    return msgspec.structs.replace(Prompt(messages=(message,), max_tokens=8), **more)


async def _structured(door: Door) -> Reply | None:
    message = Message("user", 'Reply with the JSON object {"verdict": "yes"} and nothing else.')
    try:
        return await door.ask(Prompt(messages=(message,), reply=_Verdict, max_tokens=64))
    except CallFailed as failure:
        if failure.status != "unparsable":
            raise
        return None


class ProviderEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A provider, whose models are named `name/MODEL`.

    can: what its documentation (`source`) says it can do; what is missing is unknown. key: the variable that
    is set and holds its key, None for none; keys: those that may hold it. address: where its models are asked
    unless their settings say otherwise, None where there is none; address_variables: those that say it.
    prices: the list prices of its models at its own address.
    """

    name: str
    title: str
    can: tuple[Can, ...]
    source: str
    needs_key: bool
    key: str | None
    keys: tuple[str, ...]
    address: str | None
    address_variables: tuple[str, ...]
    prices: tuple[ListPrice, ...]


class ModelEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A model that ragstone.toml names.

    address: where it is asked, without a password; None where its transport knows. key: the variable or file
    of its key, None where none is needed; key_found: whether it holds one. temperature, reasoning_tokens:
    as its settings say. price: the settings' own, else the list price; None: unknown. probe: what
    `ragstone doctor` found at this address, None where it has not looked. decides: it is a decision model.
    """

    model: str
    address: str | None
    key: str | None
    key_found: bool
    temperature: float | None
    reasoning_tokens: int | None
    price: Price | None
    probe: ModelProbe | None
    decides: bool = False


class GgufEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A GGUF model for this process. path, n_bytes: of its file, None where `install` brings it first."""

    model: str
    path: str | None
    n_bytes: int | None
    install: str | None = None


class ModelCatalogue(msgspec.Struct, frozen=True, kw_only=True):
    """What can be named as a model: by provider, in ragstone.toml, as a file of this machine.

    learnt: what earlier commands of this project learnt of models, by their names in the ledger.
    """

    providers: tuple[ProviderEntry, ...]
    models: tuple[ModelEntry, ...]
    gguf: tuple[GgufEntry, ...]
    learnt: dict[str, Learnt] = {}


@checks_arguments
def list_models(settings: Settings | None = None) -> ModelCatalogue:
    """Return the models that can be named, whose key is there, and what each is known to do.

    settings: default ragstone.toml, if there is one here. Nobody is asked, and no key is in what is returned.
    Raises ConfigError for wrong settings. A damaged `.ragstone/models.json` is ignored with a word.
    """
    settings = settings or load_settings()
    # Of a file that was replaced there may be two probes: the later one counts.
    entries = read_entries(settings.path(".ragstone"))
    probes = {(each.model, each.address): each for each in _probes_in(entries).values()}
    named = dict.fromkeys([*settings.models, *models_named(settings)])
    return ModelCatalogue(
        providers=tuple(_provider(each) for each in providers().values()),
        models=tuple(_model(name, settings.model(name), probes) for name in named),
        gguf=tuple(_gguf_models()),
        learnt=learnt_in(entries),
    )


def models_named(settings: Settings) -> list[str]:
    """Return the models that the stages of ragstone.toml would ask, by name."""
    bench, build, blame = settings.bench, settings.build, settings.blame
    named = {
        *(settings.run.model, settings.answer.model, settings.judge.model, settings.assistant.model),
        *(build.model, build.critic_model, blame.model, blame.second_model),
        *(settings.monitor.model, settings.monitor.gap_model),
        *(*bench.judges.models, *bench.answerers.models),
    }
    return sorted(name for name in named if name)


def _provider(provider: Provider) -> ProviderEntry:
    address = without_password(provider.address(ModelSettings()))
    return ProviderEntry(
        name=provider.name,
        title=provider.title,
        can=provider.can,
        source=provider.source,
        needs_key=provider.needs_key,
        key=provider.key_variable,
        keys=provider.keys,
        address=address or None,
        address_variables=provider.base_url_env,
        prices=list_prices(provider.base_url),
    )


def _model(model: str, table: ModelSettings, probes: dict[tuple[str, str], ModelProbe]) -> ModelEntry:
    # A table may be of a model that is none of the door's: an embedder, one that runs on a cluster.
    name, _, rest = model.partition("/")
    provider = providers().get(name)
    rest, table = at_url(rest, table) if name == "systemone" else (rest, table)
    url = provider.address(table) if provider else table.base_url or ""
    key_source = table.api_key_file or table.api_key_env
    if not key_source and provider is not None:
        demanded = provider.needs_key and provider.base_url in ("", url)  # elsewhere a proxy may have it
        key_source = provider.key_variable or (next(iter(provider.keys), None) if demanded else None)
    local = provider is not None and provider.dialect == "llamacpp"
    return ModelEntry(
        model=model,
        address=without_password(url) or None,
        key=key_source,
        key_found=key_source is not None and bool(find_key(table, key_source)[0]),
        temperature=table.temperature,
        reasoning_tokens=table.reasoning_tokens,
        price=table.price_usd_per_million or (Price(input=0, output=0) if local else list_price(url, rest)),
        probe=probes.get((model, without_password(url))),
        decides=decides(model, table),
    )


def _gguf_models() -> list[GgufEntry]:
    """Return the models that come in packages, and those in the cache."""
    entries = [
        GgufEntry(model=f"llamacpp/{path.stem}", path=str(path), n_bytes=path.stat().st_size)
        for path in cached_models()
    ]
    for name, (_, _, command) in PACKAGED.items():
        try:
            path = resolve_gguf(name)
        except ModelError:
            entries.append(GgufEntry(model=f"llamacpp/{name}", path=None, n_bytes=None, install=command))
        else:
            entries.append(GgufEntry(model=f"llamacpp/{name}", path=str(path), n_bytes=path.stat().st_size))
    return entries
