"""`[assistant]`: the reference application that `ragstone serve` runs.

```toml
[assistant]
model = "openai/gpt-4o-mini"
scope = "farming: crops, soil, water, weather, pests, livestock and farm machinery"
tags = "tags.toml"
crops = "crops.csv"
videos = "videos.csv"
tools = ["my_tools:market_price"]

[assistant.mcp.prices]
command = ["python", "prices_server.py"]
```
"""

from typing import Annotated, Literal

import msgspec

from ragstone.config.section import Positive, Seconds, Section

DEFAULT_SCOPE = (
    "farming: crops, soil, water, weather, pests and diseases, livestock, farm machinery and markets"
)


class WeatherSection(Section, frozen=True, kw_only=True):
    """`[assistant.weather]`: a service that speaks Open-Meteo's format; an empty address: no weather."""

    forecast_url: str = "https://api.open-meteo.com/v1/forecast"
    geocoding_url: str = "https://geocoding-api.open-meteo.com/v1/search"
    timeout_s: Seconds = 5


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
    grouped. max_passages: a file that gives more is not taken in.
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
    crops: str | None = None
    videos: str | None = None
    tools: list[str] = []
    mcp: dict[str, McpServer] = {}
    weather: WeatherSection = WeatherSection()
    log: LogSection = LogSection()
