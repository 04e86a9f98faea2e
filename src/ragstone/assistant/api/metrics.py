"""What Prometheus reads at /metrics. Each app has its own registry."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ragstone.assistant.conversation import Said

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """The counters of one app."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "ragstone_requests", "Requests.", ("route", "method", "status"), registry=self.registry
        )
        self.latency = Histogram(
            "ragstone_request_seconds",
            "From the request to the end of its response.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.replies = Counter(
            "ragstone_replies", "Replies by kind and language.", ("kind", "lang"), registry=self.registry
        )
        self.reply_seconds = Histogram(
            "ragstone_reply_seconds",
            "What the assistant took.",
            ("kind",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.cancelled = Counter(
            "ragstone_replies_cancelled",
            "Replies that nobody waited for any more.",
            registry=self.registry,
        )
        self.tokens = Counter(
            "ragstone_tokens",
            "Tokens of models; those in the provider's cache are part of input.",
            ("direction",),
            registry=self.registry,
        )
        self.cost = Counter(
            "ragstone_cost_usd", "US dollars, where prices are known.", registry=self.registry
        )
        self.unpriced = Counter(
            "ragstone_replies_without_cost", "Replies whose price is unknown.", registry=self.registry
        )
        self.tools = Counter(
            "ragstone_tool_calls", "Steps of the agent.", ("tool", "status"), registry=self.registry
        )
        self.feedback = Counter("ragstone_feedback", "Thumbs.", ("thumb",), registry=self.registry)
        self.unlogged = Counter(
            "ragstone_log_failures", "Rows that the log could not take.", registry=self.registry
        )
        self.up = Gauge("ragstone_part_up", "1 if a part works, else 0.", ("part",), registry=self.registry)

    def count_reply(self, said: Said) -> None:
        """Count a reply, its tokens, its cost and its steps."""
        self.replies.labels(said.kind, said.lang).inc()
        self.reply_seconds.labels(said.kind).observe(said.latency_s)
        self.tokens.labels("input").inc(said.usage.input)
        self.tokens.labels("output").inc(said.usage.output)
        self.tokens.labels("cached").inc(said.usage.cached)
        if said.cost_usd is not None:
            self.cost.inc(said.cost_usd)
        elif said.usage.calls:
            self.unpriced.inc()
        for step in said.steps:
            # What is no tool was invented by a model: its names must not become series without end.
            tool = "unknown" if step.status == "invalid" else step.action
            self.tools.labels(tool, step.status).inc()

    def text(self) -> bytes:
        """Return all of it in Prometheus's format."""
        return generate_latest(self.registry)
