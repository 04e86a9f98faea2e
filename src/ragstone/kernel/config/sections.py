"""The tables of ragstone.toml, and what they mean."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from ragstone.kernel.config.bench import BenchSection
from ragstone.kernel.config.datasets import BuildSection, SampleSection, TranslateSection
from ragstone.kernel.config.retrieval import ChunkSection, RetrieverSettings
from ragstone.kernel.config.section import (
    EngineKind,
    Positive,
    Price,
    Sampling,
    Seconds,
    Section,
    Temperature,
)
from ragstone.kernel.config.serving import AssistantSection, MonitorSection, ServeSection, WorkbenchSection
from ragstone.kernel.config.systems import SystemSettings
from ragstone.kernel.tables.storage import url_of

# What language models judge, and for each that has one a judge beside it that asks none.
DEFAULT_JUDGES = (
    *("containment", "token_f1", "correctness"),
    *("context_overlap", "faithfulness"),
    "relevance",
    *("no_refusal", "answered"),
)

# What a request is made of beside the fields that a provider adds: `extra` does not name them.
OURS = {
    "model": "the model's name in the table's head",
    "messages": "prompts",
    "system": "prompts",
    "stream": "the command",
    "stream_options": "the command",
    "response_format": "the judge's reply",
    "tools": "the judge's reply",
    "tool_choice": "the judge's reply",
    "logprobs": "the judge's reply",
    "top_logprobs": "the judge's reply",
    "n": "samples of a judge",
    "temperature": "the key temperature of this table",
    "max_tokens": "max_tokens of the judge or prompt, and reasoning_tokens of this table",
    "max_completion_tokens": "max_tokens of the judge or prompt, and reasoning_tokens of this table",
}


IN_ROUNDS = "vllm/"  # models that workers of a cluster hold, and that answer many calls at a time


class ModelSettings(Section, frozen=True, kw_only=True):
    """How one model is reached. What is absent has the default of its transport (see llm/).

    api: `decisions` for a model that is asked typed questions (POST /decisions) and writes nothing.
    api_version: of an Azure deployment. temperature: of calls that ask for none themselves. reasoning_tokens:
    the room that the model has to think in, beside what the reply may take; learnt where it is absent. extra:
    further fields of the request, as the provider names them. headers: further headers; `{key}` in one is
    replaced by the key, which is then sent in no other.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    api_key_file: str | None = None
    api: Literal["chat", "decisions"] = "chat"
    api_version: str | None = None
    temperature: Temperature | None = None
    reasoning_tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None
    extra: dict[str, Any] = {}
    headers: dict[str, str] = {}
    max_concurrency: Positive | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    timeout_s: Seconds | None = None
    context_tokens: Positive | None = None
    price_usd_per_million: Price | None = None
    batch_discount: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    batch_poll_s: Seconds | None = None
    dimensions: Positive | None = None
    query_prefix: str = ""
    passage_prefix: str = ""

    def __post_init__(self) -> None:
        for name in self.extra:
            if name in OURS:
                raise ValueError(f"extra names {name!r}, which is set by {OURS[name]}. Leave it out.")
        for name, value in self.headers.items():
            if not value.strip():
                raise ValueError(f"headers: {name!r} has no value. Give it one, or leave it out.")
            if not re.fullmatch(r"[!#$%&'*+.^_`|~\w-]+", name, re.ASCII) or not value.isprintable():
                raise ValueError(
                    f"headers: {name!r} is not a valid header. A name has letters and -, and a value is one "
                    "line."
                )


class RunSection(Section, frozen=True, kw_only=True):
    """`[run]`: the folder `runs/NAME` and the seed of everything that draws at random.

    model: asked by `[answer]`, `[judge]`, `[build]` and `[assistant]` where they name none.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[\w.-]+$")] = "run"
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    model: str | None = None


class DocumentsSection(Section, frozen=True, kw_only=True):
    """`[documents]`: files, folders and archives that make the corpus, and how they are read.

    glob, tables, columns, duplicates, max_file_mb, without_extras, processes: as in `IngestOptions` of
    corpus/. copies: the metadata field that copies of one document share, as its translations do.
    """

    paths: list[str] = []
    glob: list[str] = []
    tables: Literal["rows", "whole"] = "rows"
    columns: dict[Literal["id", "text", "title", "lang", "source"], str | list[str]] = {}
    duplicates: Literal["report", "drop"] = "report"
    max_file_mb: Positive = 200
    without_extras: bool = False
    processes: Positive | None = None
    copies: str | None = None


class QuestionsSection(Section, frozen=True, kw_only=True):
    """`[questions]`: the evaluation set. `limit` takes its first rows only."""

    path: str | None = None
    limit: Positive | None = None


class RetrieveSection(Section, frozen=True, kw_only=True):
    """`[retrieve]`: which retriever brings how many chunks for each question.

    retriever: one that ships, or one of `[retrievers]`. embedder: of retrievers that name none. where: only
    chunks with these tags are found (`lang` and `topic` are tags too). match: only chunks that have the
    question's own value of these tags are found, where the question has one.
    """

    retriever: str = "bm25"
    k: Positive = 5
    embedder: str = "packaged"
    where: dict[str, str] = {}
    match: list[str] = []


class AnswerSection(Sampling, frozen=True, kw_only=True):
    """`[answer]`: the built-in application (`model`, `prompt`), or a `sheet` of answers made elsewhere.

    system: one of `[systems]`, or a table as they are, or `extractive`; it answers in place of both. limit:
    only the first questions are answered and judged; retrieval is measured on all of them. repeats: answers
    to each question, 1 if absent; see records.split_repeat. temperature, top_p, max_tokens: of the built-in
    application; 0, none, and as the prompt says if absent.
    """

    model: str | None = None
    prompt: str = "strict"
    sheet: str | None = None
    system: str | None = None
    limit: Positive | None = None
    repeats: Positive | None = None


class JudgeSection(Section, frozen=True, kw_only=True):
    """`[judge]`: names of shipped judges or paths of judge files, and the model that they ask.

    one_call: judges whose replies fit into one are asked together; each then judges beside others.
    """

    judges: list[str] = msgspec.field(default_factory=lambda: list(DEFAULT_JUDGES))
    model: str | None = None
    one_call: bool = False


class AgreeSection(Section, frozen=True, kw_only=True):
    """`[agree]`: what people say, for the judges' report cards.

    labels: a file of labels of this run's answers. sheet: a file of other answers that people have
    labelled; the judges judge it too, and are measured on it. metric: what labels without a metric speak
    of. thresholds: judge -> score from which on it says 1, where labels are 0 or 1 and its scale is wider.
    """

    labels: str | None = None
    sheet: str | None = None
    metric: str | None = None
    thresholds: dict[str, float] = {}


class GateSection(Section, frozen=True, kw_only=True):
    """`[gate]`: what decides whether a new run may replace an old one, as of `ragstone compare --gate`.

    labels: a file of people's labels of answers of both, by which the judge's difference is corrected.
    margin: how much worse is let pass, as a share of the scale.
    """

    labels: str | None = None
    margin: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None


class BlameSection(Section, frozen=True, kw_only=True):
    """`[blame]`: how lost points are assigned.

    model, prompt: what answers again from the reference document and from nothing; default those of
    `[answer]`. judge: whose verdict a point is; default the headline of the run. second: a second judge of
    every answer, and its model. labels: a file of people's labels, in place of a second judge. what_if: how
    many right answers, and lost ones, are asked again to price what changes would bring; 0: none but the
    lost ones that blame asks anyway. reader: a model to price in place of the one that answered.
    """

    model: str | None = None
    prompt: str | None = None
    judge: str | None = None
    second: str | None = None
    second_model: str | None = None
    labels: str | None = None
    what_if: Annotated[int, msgspec.Meta(ge=0)] = 0
    reader: str | None = None


class EngineSection(Section, frozen=True, kw_only=True):
    """`[engine]`: where stages run.

    kind: in this process, or on the workers of a Ray cluster. address: of that cluster, e.g. `auto` on one of
    its nodes or `head:6379`; one is started on this machine if absent. workers: how many rows are shared
    among; as many as the cluster has room for if absent. In this process: how many processes at most compute
    the rows of judges that ask no model; one for each core if absent. worker_cpus, worker_gpus: what each
    worker of a cluster is given. block_rows: rows that are handed to one of them at a time, and that are done
    anew when it dies.
    """

    kind: EngineKind = "local"
    address: str | None = None
    workers: Positive | None = None
    worker_cpus: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    worker_gpus: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    block_rows: Positive = 512


class LedgerSection(Section, frozen=True, kw_only=True):
    """`[ledger]`: where responses are kept.

    url: of a PostgreSQL database, e.g. `postgresql://user@host/name`, for who works on several machines; the
    password is taken from PGPASSWORD or ~/.pgpass. The file `.ragstone/ledger.sqlite` if absent.
    keep_failures: replies that could not be used are taken as they are, and not asked for anew.
    """

    url: str | None = None
    keep_failures: bool = False


class PrivacySection(Section, frozen=True, kw_only=True, omit_defaults=True):
    """`[privacy]`: what leaves for a model. mask: placeholders in place of personal data, in every call."""

    mask: bool = False


class Settings(Section, frozen=True, kw_only=True):
    """All of ragstone.toml. root: the folder that its paths are relative to; file: its name, "" for none."""

    run: RunSection = RunSection()
    documents: DocumentsSection = DocumentsSection()
    questions: QuestionsSection = QuestionsSection()
    chunk: ChunkSection = ChunkSection()
    retrieve: RetrieveSection = RetrieveSection()
    retrievers: dict[str, RetrieverSettings] = {}
    systems: dict[str, SystemSettings] = {}
    answer: AnswerSection = AnswerSection()
    judge: JudgeSection = JudgeSection()
    agree: AgreeSection = AgreeSection()
    gate: GateSection = GateSection()
    blame: BlameSection = BlameSection()
    bench: BenchSection = BenchSection()
    build: BuildSection = BuildSection()
    translate: TranslateSection = TranslateSection()
    sample: SampleSection = SampleSection()
    privacy: PrivacySection = PrivacySection()
    assistant: AssistantSection = AssistantSection()
    serve: ServeSection = ServeSection()
    monitor: MonitorSection = MonitorSection()
    engine: EngineSection = EngineSection()
    ledger: LedgerSection = LedgerSection()
    workbench: WorkbenchSection = WorkbenchSection()
    models: dict[str, ModelSettings] = {}
    root: str = "."
    file: str = ""

    def path(self, name: str) -> Path:
        """Return a path of the file as seen from here; a URL stays what it is, see tables/storage.py."""
        if url_of(name):
            return Path(name)
        return Path(self.root) / Path(name).expanduser()

    def model(self, name: str) -> ModelSettings:
        """Return how a model is reached, with the path of its key's file as seen from here."""
        table = self.models.get(name, ModelSettings())
        if table.api_key_file is None:
            return table
        return msgspec.structs.replace(table, api_key_file=str(self.path(table.api_key_file)))

    def named(self, name: str) -> str | Path:
        """Return the name of something that ships, or the path of a file as seen from here.

        That is a .toml file, or a .py file with the function behind it. What follows an `@` behind any of
        them says how a judge is to be asked, and stays.
        """
        if ".py:" in name:
            return str(self.path(name))
        return self.path(name) if name.endswith(".toml") or ".toml@" in name else name
