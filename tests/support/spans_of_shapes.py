"""Spans of a trace in shapes that are hard to walk."""

from ragstone.kernel.tables.interchange.trace_steps import TraceStep


def spans_of(shape: str, n: int) -> list[TraceStep]:
    """Return n spans of one trace: each below the one before, all below one, in a circle, apart, or said."""
    parents = {
        "chain": lambda at: at - 1 if at else None,
        "chain upwards": lambda at: at + 1 if at < n - 1 else None,
        "circle": lambda at: (at - 1) % n,
        "fan": lambda at: 0 if at else None,
        "orphans": lambda at: n + at if at % 2 else None,
        "tops": lambda at: None,
        "traces": lambda at: None,
        "two levels": lambda at: None if not at else 0 if at % 2 else at - 1,
    }[shape]
    kinds = {"traces": ("trace",), "tops": ("other",)}.get(shape, ("model", "other", "tool"))
    return [
        TraceStep(
            number=at + 1,
            trace="t",
            id=None if shape == "traces" else str(at),
            parent=None if parents(at) is None else str(parents(at)),
            name="step",
            kind=kinds[at % len(kinds)],
            asked="What?" if at % 5 == 0 else None,
            answered="That.",
            started=float(at),
            latency_s=0.5,
            call={"id": str(at), "tool": "search", "arguments": {"at": at}}
            if kinds[at % len(kinds)] == "tool"
            else None,
        )
        for at in range(n)
    ]


SHAPES = ("chain", "chain upwards", "circle", "fan", "orphans", "tops", "traces", "two levels")
