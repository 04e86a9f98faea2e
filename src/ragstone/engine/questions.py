"""`ragstone build questions`: documents -> an evaluation set of questions, and its files."""

from collections.abc import Sequence
from pathlib import Path

from ragstone.config import Settings, choose, load_settings
from ragstone.dataset.certifying.certificate import certify
from ragstone.dataset.split import split_questions
from ragstone.engine.build_files import check_build_outputs, write_build
from ragstone.engine.building import build_rows
from ragstone.engine.evaluation_set import EvaluationSet
from ragstone.engine.fictional import write_fiction
from ragstone.engine.local import run_sync
from ragstone.engine.progress import Progress, silent
from ragstone.engine.session import open_forecast, open_session
from ragstone.engine.tagging import Taggable
from ragstone.errors import ConfigError, DataError
from ragstone.llm import Caps, parse_caps
from ragstone.llm.forecast import Forecast, Forecaster
from ragstone.records import Document
from ragstone.report import write_certificate

SAMPLE = 200  # documents that a forecast looks at, evenly spaced
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
    return questions_in_session(
        documents, settings, output=output, force=force, caps=caps, offline=offline, progress=progress
    )


def questions_in_session(
    rows: Sequence[Taggable],
    settings: Settings,
    *,
    output: Path | str | None = None,
    force: bool = False,
    caps: Caps | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> EvaluationSet:
    """Return what `build_questions` returns, in a session of its own."""
    check_questions(rows, settings, output, force)

    async def work() -> EvaluationSet:
        async with open_session(settings, caps=caps, offline=offline, progress=progress) as session:
            built = await build_rows(rows, session)
            accepted = [one.question for one in built.candidates if one.loss is None]
            certificate = certify(built)
            files: list[Path] = []
            if output is not None:
                share = built.declared.test_share
                split = split_questions(accepted, share, built.seed) if share else None
                files += write_build(output, accepted, built.candidates, split, force)
                files += write_certificate(Path(output).parent, certificate, built, force=force)
            if output is not None and built.declared.fictional:
                documents = [row for row in rows if isinstance(row, Document)]
                files += await write_fiction(documents, accepted, Path(output), session, force=force)
            return EvaluationSet(
                questions=accepted, certificate=certificate, built=built, calls=session.calls(), files=files
            )

    return run_sync(work())


def forecast_questions(rows: Sequence[Taggable], settings: Settings) -> Forecast:
    """Return what a build would ask of models. Raises what `build_questions` raises before a call."""
    check_questions(rows, settings, None, False)

    async def work() -> Forecast:
        forecaster = Forecaster()
        step = max(1, -(-len(rows) // SAMPLE))
        sampled = rows[::step]
        count = settings.build.count
        declared = settings if count is None else choose(settings, "build", count=max(1, count // step))
        forecaster.weight = len(rows) / len(sampled) if sampled else 1.0
        forecaster.assumptions[ASSUMPTION] = None
        async with open_forecast(declared, forecaster) as session:
            await build_rows(sampled, session, forecasting=True)
            return session.forecast()

    return run_sync(work())


def check_questions(
    rows: Sequence[Taggable], settings: Settings, output: Path | str | None, force: bool
) -> None:
    """Check what can be checked before a call. Raises ConfigError, DataError."""
    declared = settings.build
    if not rows:
        raise DataError("there are no documents to build questions from.")
    if declared.fictional and not all(isinstance(row, Document) for row in rows):
        raise ConfigError("a fictional variant needs whole documents: build from documents, not from chunks.")
    if output is not None:
        check_build_outputs(output, declared, force)
