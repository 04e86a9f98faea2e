"""A run, or a file of judgements -> a collector of OpenTelemetry: one log event a judgement."""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.features.export._collector import Endpoint, endpoint_of, open_collector
from ragstone.features.export.otlp import NOWHERE, EvaluationEvent, SpanPlace, event_of, span_place
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.progress import Progress, State, silent
from ragstone.kernel.errors import ConfigError, DataError, Stopped, checks_arguments, explaining, plural
from ragstone.kernel.judging.variant import load_judge
from ragstone.kernel.persistence.journal import held, replace_whole
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.run import read_manifest
from ragstone.kernel.tables import read_rows

BATCH = 512  # events of a request
BATCH_CHARACTERS = 2_000_000  # of their texts; collectors take requests of 20 MB
NOTED_S = 0.5  # how often it is noted how far the sending is
NOTES = ".ragstone/otlp"


class SentEvents(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the judgements of a source.

    sent: the collector was given them now; before: in an earlier call. rejected: of all these, that it did
    not take, and `message` is why; they are not sent again, as the protocol wants. cut: texts of which only
    the beginning was sent now.
    """

    url: str
    sent: int = 0
    before: int = 0
    rejected: int = 0
    message: str = ""
    cut: int = 0


class _Sent(msgspec.Struct, frozen=True, kw_only=True):
    """How far a source was sent: so many rows, and the digest of these, by which they are known again."""

    url: str = ""
    source: str = ""
    rows: int = 0
    digest: str = ""
    rejected: int = 0
    message: str = ""


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
    with explaining(f"{notes.parent}: cannot be written", "Make room, or check whose folder it is."):
        make_folder(notes.parent)
        with held(notes):
            return run_sync(_Sending(file, endpoint, notes, event).send(anew, progress))


class _Sending:
    """Sends the judgements of a file to an endpoint, and notes how far it is."""

    def __init__(
        self, file: Path, endpoint: Endpoint, notes: Path, event: Callable[[Judgement], EvaluationEvent]
    ) -> None:
        self._file, self._endpoint, self._notes, self._event = file, endpoint, notes, event
        self._digest = hashlib.blake2b(digest_size=16)
        self._noted_at = 0.0
        self._done = _Sent(url=endpoint.name, source=str(file))
        self._n_cut = 0

    async def send(self, anew: bool, progress: Progress) -> SentEvents:
        """Send what was not sent before. Raises DataError and Stopped with what was sent until then."""
        noted = _Sent()
        with contextlib.suppress(FileNotFoundError, msgspec.DecodeError):
            noted = noted if anew else msgspec.json.decode(self._notes.read_bytes(), type=_Sent)
        before, total = self._check(noted)
        self._done = before
        try:
            with progress("send events", total - before.rows, State) as advance:
                async with open_collector(self._endpoint) as collector:
                    for events, digest in self._batches(before.rows):
                        reply = await collector.send(events)
                        self._done = msgspec.structs.replace(
                            self._done,
                            rows=self._done.rows + len(events),
                            digest=digest,
                            rejected=self._done.rejected + reply.rejected,
                            message=self._done.message or reply.message,
                        )
                        self._note(NOTED_S)
                        for _ in events:
                            advance()
        except asyncio.CancelledError:
            raise Stopped(f"stopped. {self._told(total)}") from None
        except DataError as mistake:
            raise DataError(f"{mistake} {self._told(total)}") from None
        finally:
            self._note(0.0)
        return SentEvents(
            url=self._endpoint.name,
            sent=self._done.rows - before.rows,
            before=before.rows,
            rejected=self._done.rejected,
            message=self._done.message,
            cut=self._n_cut,
        )

    def _told(self, total: int) -> str:
        if not self._done.rows:
            return "No event was sent."
        return (
            f"{self._done.rows:,} of {plural(total, 'event')} had been sent, which is noted: run the same "
            "command again to send the rest."
        )

    def _check(self, noted: _Sent) -> tuple[_Sent, int]:
        """Return how far the rows were sent before, and how many there are. Raises DataError."""
        digest, total, before = hashlib.blake2b(digest_size=16), 0, _Sent()
        for total, row in enumerate(read_rows(self._file, Judgement), 1):
            digest.update(msgspec.json.encode(row))
            if total == noted.rows and digest.hexdigest() == noted.digest:
                before, self._digest = noted, digest.copy()
        return msgspec.structs.replace(before, url=self._done.url, source=self._done.source), total

    def _batches(self, first: int) -> Iterator[tuple[list[EvaluationEvent], str]]:
        """Yield events of the rows from a number on, with the digest of all rows up to them."""
        events: list[EvaluationEvent] = []
        n_characters = 0
        for row in islice(read_rows(self._file, Judgement), first, None):
            self._digest.update(msgspec.json.encode(row))
            event = self._event(row)
            events.append(event)
            self._n_cut += event.n_cut
            n_characters += sum(len(value) for _, value in event.attributes if isinstance(value, str))
            if len(events) == BATCH or n_characters > BATCH_CHARACTERS:
                yield events, self._digest.hexdigest()
                events, n_characters = [], 0
        if events:
            yield events, self._digest.hexdigest()

    def _note(self, every_s: float) -> None:
        if self._done.digest and time.monotonic() >= self._noted_at + every_s:
            replace_whole(self._notes, msgspec.json.encode(self._done))
            self._noted_at = time.monotonic()


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
