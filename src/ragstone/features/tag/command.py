"""`ragstone tag`: documents or chunks -> the same with topics and tags."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Model, Output, Seed
from ragstone.kernel.console.printing import say, show_json
from ragstone.kernel.console.repeating import repeatable
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from ragstone.features.tag.tagging import Tagging, TaggingSummary

SHOWN_VALUES = 10

Topics = Annotated[
    str | None,
    typer.Option("--topics", help="Number of topics, auto, or none; default: auto, or none with --tags."),
]
Tags = Annotated[Path | None, typer.Option("--tags", help="A .toml file of tags and their values.")]
Embedder = Annotated[
    str | None, typer.Option("--embedder", help="Group by this embedder's vectors instead of by terms.")
]


@repeatable()
@reads_rows
@asks_models()
def tag(
    rows: Annotated[Path, typer.Argument(help="A file of documents or of chunks.")],
    *,
    output: Output = Path("tagged.jsonl"),
    topics: Topics = None,
    tags: Tags = None,
    model: Model = None,
    embedder: Embedder = None,
    seed: Seed = 0,
    asking: Asking,
) -> None:
    """Group rows by topic, and tag them, from their words or with a model.

    Examples:

    - `ragstone tag documents.jsonl --topics 8`
    - `ragstone tag chunks.jsonl --tags tags.toml --model openai/gpt-4o-mini`
    """
    from ragstone.features.tag.tagging import forecast_tagging, tag_in_session
    from ragstone.kernel.stages.given import read_taggable
    from ragstone.kernel.tables import write_rows

    settings = asking.settings()
    wanted = _wanted(topics, tags, model, embedder, seed)
    row_type, taggable = read_taggable(rows)
    asking.tell_forecast(lambda: forecast_tagging(taggable, wanted, settings), output, free=not model)
    tagged, summary = tag_in_session(taggable, wanted, settings, asking.session)
    write_rows(output, tagged, row_type, force=asking.force)
    if asking.json:
        show_json(summary)
    else:
        _tell(summary)
    say(f"{plural(summary.n_rows, 'row')} in {output}.")
    leave([*summary.statuses, *summary.named], summary.calls, strict=asking.strict)


def _wanted(
    topics: str | None, tags: Path | None, model: str | None, embedder: str | None, seed: int
) -> "Tagging":
    from ragstone.features.tag.tagging import Tagging
    from ragstone.kernel.corpus.tags import load_tags
    from ragstone.kernel.errors import ConfigError

    topics = topics or ("none" if tags else "auto")
    if topics not in ("auto", "none") and not topics.isdecimal():
        raise ConfigError(f"--topics {topics}: give a number, auto or none.")
    return Tagging(
        topics=topics != "none",
        n_topics=int(topics) if topics.isdecimal() else None,
        tags=load_tags(tags) if tags else [],
        embedder=embedder,
        model=model,
        seed=seed,
    )


def _tell(summary: "TaggingSummary") -> None:
    """Show how many rows got what."""
    from ragstone.kernel.console.printing import show
    from ragstone.kernel.records import status_counts
    from ragstone.kernel.runs.wording import asked_line

    if summary.topics:
        show(
            f"{plural(len(summary.topics), 'topic')}:",
            *(f"{topic.n_rows:6}  {topic.name}" for topic in summary.topics),
        )
    if summary.n_without_topic:
        show(f"{summary.n_without_topic:6}  in none: they share no term with another")
    for key, counts in summary.tags.items():
        listed = ", ".join(f"{value} {n}" for value, n in list(counts.items())[:SHOWN_VALUES])
        n_hidden = len(counts) - SHOWN_VALUES
        more = f" and {n_hidden} more" if n_hidden > 0 else ""
        show(f"{key}: {listed or 'nothing'}{more}; {summary.untagged[key]} rows without one")
    failed = {status: n for status, n in summary.statuses.items() if status != "scored"}
    if failed:
        n = plural(sum(failed.values()), "row")
        say(f"{n} got no tags from the model ({status_counts(failed)}); `tag_error` says why.")
    unnamed = {status: n for status, n in summary.named.items() if status != "scored"}
    if unnamed:
        say(
            f"{sum(unnamed.values())} topics are named by their terms, since the model gave no name "
            f"({status_counts(unnamed)})."
        )
    if summary.n_cut:
        say(f"Too long, so the model saw only the beginning: {plural(summary.n_cut, 'row')}.")
    if summary.statuses or summary.named:
        say(asked_line(summary.calls))
