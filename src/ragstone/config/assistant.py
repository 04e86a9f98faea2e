"""`[assistant]`: the reference application that `ragstone serve` runs.

```toml
[assistant]
model = "openai/gpt-4o-mini"
scope = "farming: crops, soil, water, weather, pests, livestock and farm machinery"
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

from ragstone.config.section import Positive, Seconds, Section

DEFAULT_SCOPE = (
    "farming: crops, soil, water, weather, pests and diseases, livestock, farm machinery and markets"
)


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
    key: f"[assistant] {key} is no key any more: this tool has left Ragstone for its example. Copy the "
    "folder examples/assistant/farm_tools of Ragstone's repository to beside this file, write tools = "
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


class AssistantSection(Section, frozen=True, kw_only=True):
    """`[assistant]`: its model, its knowledge base, its tools and its limits.

    model: default that of `[run]`. planner: `model` asks the model which tool is next; `words` decides by
    words and vectors, without a call, for models that cannot plan. prompt: how it is asked to answer from
    passages. store: the folder of the knowledge base; with qdrant_url its vectors are on that server. tags: a
    file of tags by which documents and questions are tagged (crop, region). topics: whether documents are
    grouped. options: of the tools of `tools`, a table for each by its name. max_passages: a file that gives
    more is not taken in.
    """

    model: str | None = None
    planner: Literal["model", "words"] = "model"
    prompt: Literal["cited", "brief"] = "cited"
    scope: str = DEFAULT_SCOPE
    store: str = ".ragstone/assistant"
    qdrant_url: str | None = None
    qdrant_key_env: str | None = None
    embedder: str = "packaged"
    tags: str | None = None
    topics: bool = True
    max_passages: Positive = 20_000
    k: Positive = 5
    steps: Annotated[int, msgspec.Meta(gt=0, le=50)] = 6
    time_limit_s: Seconds = 120
    tools: list[str] = []
    options: dict[str, dict[str, Any]] = {}
    mcp: dict[str, McpServer] = {}
    log: LogSection = LogSection()
