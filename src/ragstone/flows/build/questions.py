"""`ragstone build questions`: documents -> an evaluation set of questions, and its files."""

from collections.abc import Sequence
from pathlib import Path

from ragstone.config import Settings, choose, load_settings
from ragstone.engine.progress import Progress, silent
from ragstone.errors import ConfigError
from ragstone.flows.build.building import build_rows
from ragstone.flows.build.session import build_in_session, forecast_build
from ragstone.llm import parse_caps
from ragstone.llm.forecast import Forecast
from ragstone.report.evaluation_set import EvaluationSet
from ragstone.stages.tag import Taggable

ASSUMPTION = (
    "Every question is taken to be written and kept. Those that are lost to checks save their critics' "
    "calls, and with a count cost further ones."
)


def build_questions(
    documents: Sequence[Taggable],
    *,
    model: str | None = None,
    count: int | None = None,
    settings: Settings | None = None,
    output: Path | str | None = None,
    force: bool = False,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> EvaluationSet:
    """Return an evaluation set built from documents or chunks, as `[build]` of the settings declares.

    model and count: in place of those of `[build]`. output: where the questions are written, with all that
    belongs to them beside (see build_files.py); without it nothing is written. budget: e.g. `500calls`;
    deadline: e.g. `30m`: what they cut off is counted as lost.

    Raises ConfigError for declarations that cannot be followed; DataError where a file cannot be written;
    ModelError without a model, or when no call can succeed.
    """
    caps = parse_caps(budget, deadline)
    settings = choose(settings or load_settings(), "build", model=model, count=count)
    if settings.build.fictional and output is None:
        raise ConfigError("a fictional variant is written to files: give an output.")
    return build_in_session(
        documents,
        build_rows,
        settings,
        output=output,
        force=force,
        caps=caps,
        offline=offline,
        progress=progress,
    )


def forecast_questions(rows: Sequence[Taggable], settings: Settings) -> Forecast:
    """Return what a build would ask of models. Raises what `build_questions` raises before a call."""
    return forecast_build(rows, build_rows, settings, ASSUMPTION)
