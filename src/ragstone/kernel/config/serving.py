"""Tables of ragstone.toml for what people use: the assistant, servers, the workbench, the monitor.

`[assistant]`: the reference application that `ragstone serve` runs.

```toml
[assistant]
model = "openai/gpt-4o-mini"
title = "Help for beekeepers"
scope = "keeping bees: hives, swarms, honey, diseases of bees"
tags = "tags.toml"
tools = ["my_tools:market_price"]

[assistant.options.market_price]
currency = "KES"

[assistant.mcp.prices]
command = ["python", "prices_server.py"]
```
"""

from typing import Annotated, Any, Literal

import msgspec

from ragstone.kernel.config.section import Positive, Seconds, Section


class OtlpSection(Section, frozen=True, kw_only=True):
    """`[serve.otlp]`: where `ragstone serve --otlp` writes the spans that it is sent, and its limits.

    key_env: the environment variable with the key that senders need. mask: words that are masked besides
    personal data, as `[sample] mask`. max_request_mb: of a request, unpacked; max_spans: in one.
    max_attribute_kb: a longer text is cut.
    """

    folder: str = ".ragstone/traces"
    key_env: str | None = None
    mask: list[str] = []
    max_request_mb: Positive = 64
    max_spans: Positive = 20_000
    max_attribute_kb: Positive = 256


class ServeSection(Section, frozen=True, kw_only=True):
    """`[serve]`: address, keys and limits.

    keys_file: a file of `name = "key"` lines; who has none of these keys is refused. admin_keys: names of
    those who may change documents; all of them, where it is empty. requests_per_minute: of each key, or of
    each address without keys. cors_origins: sites whose pages may ask. keep_days: conversations in which
    nothing was said for so long are deleted. public_url: the address by which people reach the server through
    a proxy; the workbench then wants accounts, and its cookies are for https alone where this is https.
    trusted_proxies: addresses whose X-Forwarded-For is believed.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 8000
    keys_file: str | None = None
    admin_keys: list[str] = []
    requests_per_minute: Positive = 120
    max_question_kb: Positive = 32
    max_upload_mb: Positive = 50
    max_connections: Positive = 1000
    cors_origins: list[str] = []
    keep_days: Positive = 30
    public_url: Annotated[str, msgspec.Meta(pattern=r"^https?://[^/?#@\s]+/?$")] | None = None
    trusted_proxies: list[str] = msgspec.field(default_factory=lambda: ["127.0.0.1", "::1"])
    otlp: OtlpSection = OtlpSection()


Role = Literal["reader", "annotator", "owner"]
"""What somebody may do at the workbench; each what those before may."""


class WorkbenchSection(Section, frozen=True, kw_only=True):
    """`[workbench]`: what is shown, and where what people do there is kept.

    runs: folders in which runs are looked for. labels: the folder of the files that labels are written to.
    traces: files and folders of traces that are shown beside those that were sent. store: of queues, accounts
    and the audit log. annotator: the name on labels of who works on this machine
    without an account; default: the user's. session_hours: after so long without a request one logs in anew.
    """

    runs: list[str] = msgspec.field(default_factory=lambda: ["runs"])
    labels: str = "labels"
    traces: list[str] = []
    store: str = ".ragstone/workbench"
    annotator: str | None = None
    session_hours: Positive = 12


# Each about something else: the question, what it asks for, whether it got an answer, and how good that was.
MONITOR_JUDGES = (
    "prompt_clarity",
    "question_type",
    "answered",
    "faithfulness",
    "relevance",
    "language_match",
    "toxicity",
)


class MonitorSection(Section, frozen=True, kw_only=True):
    """`[monitor]`: what is judged of a log, and when a change is an alarm.

    store: the folder of what was read and judged so far. judges, model: as in `[judge]`; default model its.
    rate: the share of exchanges that is judged. strata: tags by whose values the sample is spread, so that
    rare ones are judged too; at_least: of each value a day. budget_per_day: e.g. `5USD`, `2000calls`; what it
    cuts off is judged on a later day. tags: those by which trends are shown. modes: the folder of the failure
    modes that are watched, as `ragstone modes` writes them; None watches none.

    time, question, answer, feedback: columns, where their names are not known; feedback_scale: its lowest and
    its highest value. keep_personal_data: nothing is masked, neither in the store nor in what judges see.

    alpha: the chance of any false alarm, ever. baseline_days: before anything is compared. canaries: how many
    answers are frozen; canary_days: how often they are judged again.

    gap_days: gaps of the documents are looked for in the last so many days; unfaithful_below: an answer whose
    faithfulness is lower counts to one. embedder: gaps are grouped by its vectors; gap_model: names them.
    cards: the file of report cards of the judges, for the page. otlp: a collector of OpenTelemetry; each
    judgement is sent there as an event.
    """

    store: str = ".ragstone/monitor"
    judges: list[str] = msgspec.field(default_factory=lambda: list(MONITOR_JUDGES))
    model: str | None = None
    rate: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    strata: list[str] = []
    at_least: Annotated[int, msgspec.Meta(ge=0)] = 0
    budget_per_day: str | None = None
    tags: list[str] = msgspec.field(default_factory=lambda: ["lang", "model", "prompt_version"])
    modes: str | None = None
    time: str | None = None
    question: str | None = None
    answer: str | None = None
    feedback: str | None = None
    feedback_scale: tuple[float, float] = (0.0, 1.0)
    keep_personal_data: bool = False
    alpha: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.05
    baseline_days: Annotated[int, msgspec.Meta(ge=2)] = 14
    canaries: Annotated[int, msgspec.Meta(ge=0)] = 200
    canary_days: Positive = 7
    gap_days: Positive = 28
    unfaithful_below: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    embedder: str | None = None
    gap_model: str | None = None
    cards: str | None = None
    otlp: str | None = None


# Keys of tools that the package had -> the tool of examples/assistant that does the same, and what becomes of
# the key's value.
_TOOLS = {
    "crops": ("farm_tools.crops:crop_table", 'write path = "crops.csv" below [assistant.options.crop_table]'),
    "videos": (
        "farm_tools.videos:find_videos",
        'write path = "videos.csv" below [assistant.options.find_videos]',
    ),
    "weather": ("farm_tools.weather:weather", "rename this table to [assistant.options.weather]"),
}
MOVED = {
    key: f"[assistant] {key} no longer exists: this tool has moved from Ragstone to its example. Copy the "
    "folder examples/assistant/farm_tools of Ragstone's repository next to this file, write tools = "
    f'["{call}"] below [assistant], and {value}. Without the tool, delete the key.'
    for key, (call, value) in _TOOLS.items()
}
"""Key of an older version -> the sentence that says what to write instead."""


class McpServer(Section, frozen=True, kw_only=True):
    """`[assistant.mcp.NAME]`: a server whose tools are the agent's; `command` starts it, `url` reaches one.

    tools: those of its tools that may be used; all, where it is empty.
    """

    command: list[str] = []
    url: str | None = None
    tools: list[str] = []
    timeout_s: Seconds = 10


class LogSection(Section, frozen=True, kw_only=True):
    """`[assistant.log]`: where each exchange is written.

    mask: words that are masked besides personal data, as `[sample] mask`.
    otlp_endpoint: spans with OpenInference's names are sent there too, e.g. http://localhost:4318/v1/traces.
    """

    folder: str = "logs"
    rotate_mb: Positive = 64
    mask: list[str] = []
    otlp_endpoint: str | None = None


CATALOGUE = "catalogue.sqlite"  # what tells that a knowledge base was built, in its store


class AssistantSection(Section, frozen=True, kw_only=True):
    """`[assistant]`: its model, its knowledge base, its tools and its limits.

    model: default that of `[run]`. planner: `model` asks the model which tool is next; `words` decides by
    words and vectors, without a call, for models that cannot plan. answers: `written` by the model, or
    `extractive`: the sentences of the passages that answer best. Both default to what needs no model where
    there is none, and where it is the embedded one. prompt: how the model is asked to answer from passages.
    translator: of quotes in another language than the question: a model or `http` ([translate.http]);
    without one nothing is translated, whatever the model does.

    title, welcome, examples: of the chat page. scope: what questions are about; without one none is declined.
    texts: a folder of the application's own texts and words in each language.

    store: the folder of the knowledge base; with qdrant_url its vectors are on that server. tags: a
    file of tags by which documents and questions are tagged (product, region). topics: whether documents are
    grouped. options: of the tools of `tools`, a table for each by its name. max_passages: a file that gives
    more is not taken in. shortlist: a build embeds nothing; a question embeds the first so many passages that
    words find, where their vectors are not stored yet. Then there are no topics.

    filters: tags that passages must have where a request names no other value. loosen: of the filters, those
    that are dropped where no passage fits, in this order, which the reply says; the others hold. audience:
    who reads the answers, by the name of a file in the folder `audiences` of `texts`.
    """

    model: str | None = None
    planner: Literal["model", "words"] | None = None
    answers: Literal["written", "extractive"] | None = None
    prompt: Literal["cited", "brief"] = "cited"
    translator: str | None = None
    title: str | None = None
    welcome: str | None = None
    examples: list[str] = []
    scope: str | None = None
    texts: str | None = None
    store: str = ".ragstone/assistant"
    qdrant_url: str | None = None
    qdrant_key_env: str | None = None
    embedder: str = "packaged"
    tags: str | None = None
    filters: dict[str, str] = {}
    loosen: list[str] = msgspec.field(default_factory=lambda: ["lang"])
    audience: str | None = None
    topics: bool = True
    max_passages: Positive = 20_000
    shortlist: Annotated[int, msgspec.Meta(ge=2, le=1000)] | None = None
    k: Positive = 5
    steps: Annotated[int, msgspec.Meta(gt=0, le=50)] = 6
    time_limit_s: Seconds = 120
    tools: list[str] = []
    options: dict[str, dict[str, Any]] = {}
    mcp: dict[str, McpServer] = {}
    log: LogSection = LogSection()
