"""`ragstone build facts`: documents -> true and false statements, and their files."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragstone.config import Settings, choose, load_settings
from ragstone.config.build import Change
from ragstone.engine.progress import Progress, silent
from ragstone.errors import ConfigError, nearest
from ragstone.flows.build.fact_rows import build_fact_rows
from ragstone.flows.build.session import build_in_session, forecast_build
from ragstone.llm import parse_caps
from ragstone.llm.forecast import Forecast
from ragstone.report.evaluation_set import EvaluationSet
from ragstone.stages.tag import Taggable

CHANGES: tuple[Change, ...] = ("number", "entity", "negation", "relation")
ASSUMPTION = (
    "Every statement is taken to be kept, to hold no number, and to be false at the first change. Those that "
    "are lost, and numbers, save calls; a second change costs some, and so does a count."
)


def build_facts(
    documents: Sequence[Taggable],
    *,
    model: str | None = None,
    falsify: Sequence[str] | None = None,
    count: int | None = None,
    settings: Settings | None = None,
    output: Path | str | None = None,
    force: bool = False,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> EvaluationSet:
    """Return true statements about documents or chunks, and false ones where `falsify` names changes.

    falsify: of `number`, `entity`, `negation`, `relation`. count: true statements in all, each with its false
    sibling. These and the model: in place of those of `[build]`. output: where the statements are written,
    with all that belongs to them beside (see build_files.py); without it nothing is written. budget: e.g.
    `500calls`; deadline: e.g. `30m`: what they cut off is counted.

    Raises ConfigError for a change that does not exist or a count below 1; DataError without documents, or
    where a file cannot be written; ModelError without a model, or when no call can succeed.
    """
    caps = parse_caps(budget, deadline)
    chosen = with_changes(settings or load_settings(), falsify)
    if count is not None and count < 1:
        raise ConfigError(f"count {count}: give the number of true statements wanted, 1 or more.")
    chosen = choose(chosen, "build", model=model, count=count)
    return build_in_session(
        documents,
        build_fact_rows,
        chosen,
        output=output,
        force=force,
        caps=caps,
        offline=offline,
        progress=progress,
    )


def forecast_facts(rows: Sequence[Taggable], settings: Settings) -> Forecast:
    """Return what a build would ask of models. Raises what `build_facts` raises before a call."""
    return forecast_build(rows, build_fact_rows, settings, ASSUMPTION)


def with_changes(settings: Settings, names: Sequence[str] | None) -> Settings:
    """Return the settings with these kinds of change; None leaves them. Raises ConfigError for another."""
    if names is None:
        return settings
    for name in names:
        if name not in CHANGES:
            raise ConfigError(f"unknown change {name!r}. {nearest(name, CHANGES)}")
    facts = msgspec.structs.replace(settings.build.facts, falsify=list(names))
    return choose(settings, "build", facts=facts)
