"""A run, or a file of judgements -> a collector of OpenTelemetry: one log event a judgement."""

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from ragstone.features.export._collector import endpoint_of
from ragstone.features.export.otlp import NOWHERE, EvaluationEvent, SpanPlace, event_of, span_place
from ragstone.features.export.sending import EventExport, SentEvents
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments, explaining
from ragstone.kernel.judging.variant import load_judge
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.run import read_manifest
from ragstone.kernel.tables import read_rows

NOTES = ".ragstone/otlp"


@checks_arguments
def send_judgements(
    source: Path | str,
    url: str | None = None,
    *,
    answers: Path | str | None = None,
    anew: bool = False,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> SentEvents:
    """Send one `gen_ai.evaluation.result` event a judgement to a collector, by OTLP over HTTP.

    source: a run folder, or a file of judgements. url: of the collector, default that of the standard
    OTEL_EXPORTER_OTLP_… variables, from which keys, time limits and certificates come too. answers: a file
    that tells in which trace each answer was made; a run has its own. anew: send again what was sent before.
    Personal data is masked, also the words of `[sample] mask` in `settings` (default: ragstone.toml).

    How far the collector has acknowledged is noted in `.ragstone/otlp`, and a later call goes on from there.
    Raises DataError for rows that cannot be read, before anything is sent, and where the collector takes
    nothing, telling how many were sent until then; ConfigError for an address or a variable that is none.
    """
    source, endpoint = Path(source), endpoint_of(url)
    settings = settings or load_settings()
    file = source / "judgements.jsonl" if source.is_dir() else source
    if source.is_dir() and not file.is_file():
        raise DataError(f"{source}: no judgements.jsonl in this folder. Name a run, or a file of judgements.")
    own_answers = source / "answers.jsonl"
    places = _places(own_answers if answers is None and own_answers.is_file() else answers)
    version, own = _versions(source, settings), own_words(settings.sample.mask)

    def event(row: Judgement) -> EvaluationEvent:
        metadata = row.metadata or {}
        place = span_place(metadata.get("trace_id"), metadata.get("span_id"))
        if place == NOWHERE:
            place = places.get((row.question_id, row.system), NOWHERE)
        return event_of(row, version=version(row.judge, row.prompt_version), own=own, place=place)

    key = f"{endpoint.name}\0{file.resolve()}".encode("utf-8", "surrogatepass")
    notes = settings.path(NOTES) / f"{hashlib.blake2b(key, digest_size=8).hexdigest()}.json"
    with explaining(
        f"{notes.parent}: cannot be written", "Free some disk space, or check the folder's permissions."
    ):
        make_folder(notes.parent)
        with held(notes):
            return run_sync(EventExport(file, endpoint, notes, event).send(anew, progress))


def _places(answers: Path | str | None) -> dict[tuple[str, str], SpanPlace]:
    """Return where the answers of a file were traced, by question and system; those that were. DataError."""
    rows: Iterable[Answer] = () if answers is None else read_rows(answers, Answer)
    known = (
        ((row.question_id, row.system), span_place(row.metadata.get("trace_id"), row.metadata.get("span_id")))
        for row in rows
        if row.metadata
    )
    return {key: place for key, place in known if place != NOWHERE}


def _versions(source: Path, settings: Settings) -> Callable[[str, int], str]:
    """Return what finds the version of an evaluator by its judge's name and number.

    The digest of its file, as the run's manifest or the judge of this name here has it; else the number.
    """
    judges = (read_manifest(source / "manifest.json") or {}).get("judges", {}) if source.is_dir() else {}

    @lru_cache(512)
    def version_of(name: str, number: int) -> str:
        noted = judges.get(name, {})
        if noted.get("version") == number and noted.get("digest"):
            return str(noted["digest"])
        if not noted and not any(sign in name for sign in (":", "/", "\\", ".toml")):  # these would run code
            try:
                judge = load_judge(settings.named(name))
            except (ConfigError, OSError):
                return str(number)
            if judge.version == number:
                return digest_of(judge)
        return str(number)

    return version_of
