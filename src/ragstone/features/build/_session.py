"""A build from its sources to its files: the same for questions and for facts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from ragstone.features.build._built import Built
from ragstone.features.build._filling import STEPS, BuildSteps
from ragstone.features.build.certificate.counting import certify
from ragstone.features.build.certificate.page import EvaluationSet, write_certificate
from ragstone.features.build.fictional import write_fiction
from ragstone.features.build.files import build_paths, check_build_outputs, write_build
from ragstone.kernel.config import Settings
from ragstone.kernel.dataset.placing import remember_sources
from ragstone.kernel.dataset.split import split_questions
from ragstone.kernel.engine.session import PLAIN, Session, SessionOptions, run_in_session
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.records import Document
from ragstone.kernel.stages.corpus import read_files
from ragstone.kernel.stages.given import Taggable, read_taggable
from ragstone.kernel.tables import keep_sources

ROWS = (".jsonl", ".parquet")  # of a single source: rows of ours, or of another tool with its names


def read_sources(sources: Sequence[Path | str], settings: Settings) -> list[Taggable]:
    """Return the rows of one .jsonl or .parquet file, documents or chunks; else what ingest makes of them.

    sources: as of `ragstone ingest`; read as `[documents]` says. Raises DataError if it is nothing.
    """
    if len(sources) == 1 and Path(sources[0]).suffix.lower() in ROWS:
        return read_taggable(Path(sources[0]))[1]
    corpus = read_files(settings, [Path(source).absolute() for source in sources])
    if not corpus.documents:
        first = "; ".join(f"{file.path}: {file.reason}" for file in corpus.skipped[:3])
        raise DataError(
            f"no documents in {', '.join(map(str, sources))}{': ' + first if first else ''}. Name files or "
            "folders that `ragstone ingest` reads; --glob reads files with other endings as text."
        )
    return list(corpus.documents)


def document_id_of(row: Taggable) -> str:
    """Return the id of a document, or of the one that a chunk is a piece of."""
    return row.id if isinstance(row, Document) else row.document_id


def read_for(output: Path | str, sources: Sequence[Path | str], settings: Settings) -> list[Taggable]:
    """Return the rows that a build reads. Raises DataError where one of its files would replace a source."""
    keep_sources(build_paths(Path(output), settings.build), sources)
    return read_sources(sources, settings)


class Make(Protocol):
    """What makes candidates of rows, as `[build]` of the session's settings declares."""

    async def __call__(self, rows: Sequence[Taggable], session: Session, steps: BuildSteps = STEPS) -> Built:
        """Make them."""
        ...


def check_build(rows: Sequence[Taggable], settings: Settings, output: Path | str | None, force: bool) -> None:
    """Check what can be checked before a call. Raises ConfigError, DataError."""
    if not rows:
        raise DataError("there are no documents to build from.")
    if settings.build.fictional and not all(isinstance(row, Document) for row in rows):
        raise ConfigError("a fictional variant needs whole documents: build from documents, not from chunks.")
    if output is not None:
        check_build_outputs(output, settings.build, force)


def build_in_session(
    rows: Sequence[Taggable],
    make: Make,
    settings: Settings,
    *,
    output: Path | str | None = None,
    force: bool = False,
    how: SessionOptions = PLAIN,
) -> EvaluationSet:
    """Return the evaluation set that `make` makes of rows, in a session of its own, and write its files."""
    check_build(rows, settings, output, force)

    async def work(session: Session) -> EvaluationSet:
        built = await make(rows, session)
        texts = {row.id: row.text for row in rows if isinstance(row, Document)}
        candidates = [
            msgspec.structs.replace(candidate, question=remember_sources(candidate.question, texts))
            for candidate in built.candidates
        ]
        built = msgspec.structs.replace(built, candidates=candidates)
        if how.offline and built.failed and not session.calls().from_ledger:
            raise ModelError(
                "offline, but the ledger has none of this build's calls. Run it once without --offline."
            )
        accepted = [candidate.question for candidate in built.candidates if candidate.loss is None]
        certificate = certify(built)
        share = built.declared.test_share
        sides = split_questions(accepted, share, built.seed) if share else {}
        files: list[Path] = []
        if output is not None:
            files += write_build(output, accepted, built.candidates, sides if share else None, force)
            files += write_certificate(Path(output).parent, certificate, built.candidates, force=force)
        if output is not None and built.declared.fictional:
            documents = [row for row in rows if isinstance(row, Document)]
            files += await write_fiction(documents, accepted, Path(output), session, force=force)
        return EvaluationSet(
            questions=accepted,
            certificate=certificate,
            built=built,
            calls=session.calls(),
            sides=sides,
            files=files,
        )

    return run_in_session(settings, how, work)
