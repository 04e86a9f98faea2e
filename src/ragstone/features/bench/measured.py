"""The benches beside a run -> what they measured of other configurations, on the same questions."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragstone.features.bench.answerers.words import read_answer_bench
from ragstone.features.bench.finished import kind_of_bench
from ragstone.features.bench.retrievers.words import read_leaderboard
from ragstone.kernel.engine.digests import hexdigest
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.records import Document
from ragstone.kernel.runs.causes import BenchedChange
from ragstone.kernel.runs.folders import MANIFEST
from ragstone.kernel.runs.settings import RunManifest, read_run_manifest
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.families import ALPHA
from ragstone.kernel.tables import read_rows

DOCUMENTS = "documents.jsonl"
ROWS = ("questions.jsonl", DOCUMENTS)
SEARCHES = ("rag", "extractive")  # kinds of systems that search with [retrieve], unless they name their own
SHOWN = 3


def benched_changes(run: Path, system: str) -> tuple[list[BenchedChange], list[str]]:
    """Return what the benches in the same folder as a run measured of its configuration and a better one.

    A bench counts only if it has the very questions and documents of the run, wherever they were read from,
    as the digests in both manifests say, and the run's configuration is in its grid. The notes name those
    that do not count, with the reason, and the command that measures changes where none counts. Nothing comes
    of a run of answers that were made elsewhere.
    """
    manifest = read_run_manifest(run / MANIFEST)
    if manifest is None or not set(ROWS) <= manifest.files.keys() or _table(manifest, "answer").get("sheet"):
        return [], []
    benched = _BenchedRun(run, manifest, system)
    changes: list[BenchedChange] = []
    unused: list[str] = []
    for folder in sorted(run.parent.iterdir()):
        try:
            kind = kind_of_bench({path.name for path in folder.iterdir()}) if folder.is_dir() else None
        except OSError:  # of a folder that may not be read nothing is known
            continue
        if kind not in ("bench of retrievers", "bench of answerers"):
            continue
        try:
            of_search = kind == "bench of retrievers"
            changes.append((_of_search if of_search else _of_answers)(folder, benched))
        except _Unused as reason:
            unused.append(f"{folder.name} ({reason})")
        except RagstoneError:
            unused.append(f"{folder.name} (it cannot be read; run it again)")
    notes = []
    if unused:
        more = f" and {len(unused) - SHOWN} more" if len(unused) > SHOWN else ""
        notes.append(f"Benches beside this run that are not used: {', '.join(unused[:SHOWN])}{more}.")
    return changes, notes if changes else [*notes, _to_measure(manifest)]


class _Unused(Exception):
    """Why a bench says nothing of a run."""


class _BenchedRun:
    """A run that benches are compared with. Its documents are read where a bench's file differs."""

    def __init__(self, folder: Path, manifest: RunManifest, system: str) -> None:
        self.folder, self.manifest, self.system = folder, manifest, system

    @cached_property
    def documents(self) -> str:
        """See _documents; a text that is not a digest where that is None."""
        return _documents(self.folder, self.manifest) or "unknown"


class _Pair(NamedTuple):
    """A bench and a run, by their manifests."""

    bench: RunManifest
    run: RunManifest

    def same(self, *tables: str) -> bool:
        """Return whether both have these tables, and count the same documents as copies."""
        copies = [_table(side, "documents").get("copies") for side in self]
        return copies[0] == copies[1] and all(
            _table(self.bench, name) == _table(self.run, name) for name in tables
        )


def _to_measure(manifest: RunManifest) -> str:
    benches = {"answerers": "models, prompts and systems"}
    if _searches(manifest):
        benches = {"retrievers": "chunkers and retrievers"} | benches
    commands = [f"`ragstone bench {name}` measures other {what}" for name, what in benches.items()]
    tables = " and ".join(f"[bench.{name}]" for name in benches)
    return (
        f"No bench has measured changes to this system on these questions: {', '.join(commands)}. Name the "
        f"run's own configuration in {tables} too, because others are compared with it."
    )


def _pair(folder: Path, run: _BenchedRun) -> _Pair:
    """Return both manifests. Raises _Unused where they are of other rows, or one does not say of which."""
    bench = read_run_manifest(folder / MANIFEST)
    if bench is None:
        raise _Unused("it did not finish")
    for name in ROWS:
        what = name.removesuffix(".jsonl")
        if name not in bench.files:
            raise _Unused(f"an older version wrote it, without its {what}; run it again")
        if bench.files[name] != run.manifest.files[name] and not (
            name == DOCUMENTS and run.documents == _documents(folder, bench)
        ):
            raise _Unused(f"other {what}" + ", or a part of them" * (what == "questions"))
    return _Pair(bench, run.manifest)


def _documents(folder: Path, manifest: RunManifest) -> str | None:
    """Return the digest of documents without where they were read from: paths depend on where one works.

    None of a file that is not the one of its manifest.
    """
    try:
        content = (folder / DOCUMENTS).read_bytes()
    except OSError:
        return None
    if hexdigest(content) != manifest.files[DOCUMENTS]:
        return None
    rows = (msgspec.structs.replace(row, source=None) for row in read_rows(folder / DOCUMENTS, Document))
    return hexdigest(b"\n".join(map(msgspec.json.encode, rows)))


def _searches(manifest: RunManifest) -> bool:
    """Return whether the run's answers are made from what [retrieve] brings."""
    name = _table(manifest, "answer").get("system")
    if name is None:
        return True
    shipped = {"kind": "extractive"} if name == "extractive" else {}
    declared = manifest.settings.get("systems", {}).get(str(name), shipped)
    return (
        isinstance(declared, Mapping) and declared.get("kind") in SEARCHES and not declared.get("retriever")
    )


def _of_search(folder: Path, run: _BenchedRun) -> BenchedChange:
    manifest = run.manifest
    if not _searches(manifest):
        raise _Unused("the answers are not made from what [retrieve] brings")
    pair = _pair(folder, run)
    board = read_leaderboard(folder).leaderboard
    retrieve, chunk = _table(manifest, "retrieve"), _table(manifest, "chunk")
    if retrieve.get("where") or retrieve.get("match"):
        raise _Unused("the run retrieves with where or match")
    current = next(
        (
            row
            for row in board.standings
            if row.configuration.retriever == retrieve.get("retriever")
            and row.configuration.reranker is None
            and row.configuration.embedder in (None, retrieve.get("embedder"))
            and msgspec.to_builtins(row.configuration.chunker) == chunk
        ),
        None,
    )
    if current is None or not pair.same("retrievers"):
        raise _Unused("the run's chunker with its retriever is not in its grid: [bench.retrievers]")
    best, test = board.standings[0].configuration.name, current.comparison
    change = BenchedChange(
        bench=folder.name,
        of="retrieval",
        system=run.system,
        current=current.configuration.name,
        best=best,
        n=len(board.standings),
        measure=board.measure,
        verdict="is current",
    )
    if test is None:
        return change
    return _tested(change, best, test.first, test.difference, test.p_holm, test.family)


def _of_answers(folder: Path, run: _BenchedRun) -> BenchedChange:
    pair, manifest = _pair(folder, run), run.manifest
    summary = read_answer_bench(folder)
    board = summary.board
    if not pair.same("retrieve", "chunk", "retrievers"):
        raise _Unused("it retrieves in another way than the run")
    rows = [row for row in board.standings if row.cell.condition == "retrieved"]
    name = _table(manifest, "answer").get("system")
    systems = [side.settings.get("systems", {}).get(str(name)) for side in pair]
    current = next(
        (
            row
            for row in rows
            if (
                row.cell.name == name and row.cell.is_system and systems[0] == systems[1]
                if name is not None
                else _is_asked((row.cell.model, row.cell.prompt, row.cell.temperature), pair)
            )
        ),
        None,
    )
    if current is None:
        what = "model and prompt are" if name is None else f"system {name} is"
        raise _Unused(f"the run's {what} not in its grid: [bench.answerers]")
    if summary.race is not None:
        raise _Unused("a race stopped configurations before all questions were asked")
    judge = next((role.judge for role in board.roles if role.metric == board.measure), None)
    best, test = rows[0].cell.name, current.comparison
    change = BenchedChange(
        bench=folder.name,
        of="answers",
        system=run.system,
        current=current.cell.name,
        best=best,
        n=len(rows),
        measure=board.measure,
        judge=judge,
        verdict="is current" if current is rows[0] else "cannot tell",
    )
    if test is None or test.n_labelled == 0:
        return change
    change = _tested(change, best, test.first, test.difference, test.p_holm, test.family)
    return msgspec.structs.replace(change, n_labelled=test.n_labelled)


def _is_asked(cell: tuple[str | None, str | None, float | None], pair: _Pair) -> bool:
    """Return whether a model, a prompt and a temperature (None: that of [answer]) made the run's answers."""
    model, prompt, temperature = cell
    bench, run = (_table(side, "answer") for side in pair)
    prompts = [side.prompt and side.prompt.digest for side in pair]
    models = [side.settings.get("models", {}).get(str(model)) for side in pair]
    return (
        (model, prompt) == (run.get("model"), run.get("prompt"))
        and (bench.get("temperature") if temperature is None else temperature) == run.get("temperature")
        and all(bench.get(key) == run.get(key) for key in ("top_p", "max_tokens"))
        and models[0] == models[1]
        and (None in prompts or prompts[0] == prompts[1])
    )


def _tested(
    change: BenchedChange, best: str, first: str, difference: Estimate, p_holm: float, family: int
) -> BenchedChange:
    """Return the change with its test. It is better only if both the test and the interval say so."""
    if first != best:
        return change
    is_better = p_holm <= ALPHA and difference.low is not None and difference.low > 0
    return msgspec.structs.replace(
        change,
        verdict="better" if is_better else "cannot tell",
        difference=difference,
        p_holm=p_holm,
        family=family,
    )


def _table(manifest: RunManifest, name: str) -> Mapping[str, object]:
    return manifest.settings.get(name, {})
