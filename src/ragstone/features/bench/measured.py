"""The benches beside a run -> what they measured of other configurations, on the same questions."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragstone.features.bench.answerers.words import read_answer_bench
from ragstone.features.bench.finished import kind_of_bench
from ragstone.features.bench.retrievers.words import read_leaderboard
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.runs.causes import BenchedChange
from ragstone.kernel.runs.settings import MANIFEST, RunManifest, read_run_manifest
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.families import ALPHA

ROWS = ("questions.jsonl", "documents.jsonl")
SEARCHES = ("rag", "extractive")  # kinds of systems that search with [retrieve], unless they name their own
SHOWN = 3


def benched_changes(run: Path, system: str) -> tuple[list[BenchedChange], list[str]]:
    """Return what the benches in the same folder as a run measured of its configuration and a better one.

    A bench counts only if it has the very questions and documents of the run, as the digests in both
    manifests say, and the run's configuration is in its grid. The notes name those that do not count, with
    the reason, and the command that measures changes where none counts. Nothing comes of a run of answers
    that were made elsewhere.
    """
    manifest = read_run_manifest(run / MANIFEST)
    if manifest is None or not set(ROWS) <= manifest.files.keys() or _table(manifest, "answer").get("sheet"):
        return [], []
    changes: list[BenchedChange] = []
    unused: list[str] = []
    for folder in sorted(run.parent.iterdir()):
        kind = kind_of_bench({path.name for path in folder.iterdir()}) if folder.is_dir() else None
        if kind not in ("bench of retrievers", "bench of answerers"):
            continue
        try:
            of_search = kind == "bench of retrievers"
            changes.append((_of_search if of_search else _of_answers)(folder, manifest, system))
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
    commands = ["`ragstone bench answerers` measures other models and prompts on these questions"]
    if _searches(manifest):
        commands = ["`ragstone bench retrievers` measures other retrievers on these questions", *commands]
    return f"No bench has measured changes to this system: {', '.join(commands)}."


def _pair(folder: Path, run: RunManifest) -> _Pair:
    """Return both manifests. Raises _Unused where they are of other rows, or one does not say of which."""
    bench = read_run_manifest(folder / MANIFEST)
    if bench is None:
        raise _Unused("it did not finish")
    for name in ROWS:
        what = name.removesuffix(".jsonl")
        if name not in bench.files:
            raise _Unused(f"an older version wrote it, without its {what}; run it again")
        if bench.files[name] != run.files[name]:
            raise _Unused(f"other {what}")
    return _Pair(bench, run)


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


def _of_search(folder: Path, manifest: RunManifest, system: str) -> BenchedChange:
    if not _searches(manifest):
        raise _Unused("the answers are not made from what [retrieve] brings")
    pair = _pair(folder, manifest)
    board = read_leaderboard(folder).leaderboard
    retrieve, chunk = _table(manifest, "retrieve"), _table(manifest, "chunk")
    whole = not retrieve.get("where") and not retrieve.get("match") and pair.same("retrievers")
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
    if current is None or not whole:
        raise _Unused("the run's retriever is not in its grid")
    best, test = board.standings[0].configuration.name, current.comparison
    change = BenchedChange(
        bench=folder.name,
        of="retrieval",
        system=system,
        current=current.configuration.name,
        best=best,
        n=len(board.standings),
        measure=board.measure,
        verdict="is current",
    )
    if test is None:
        return change
    return _tested(change, best, test.first, test.difference, test.p_holm, test.family)


def _of_answers(folder: Path, manifest: RunManifest, system: str) -> BenchedChange:
    pair = _pair(folder, manifest)
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
        raise _Unused("the run's model and prompt, or its system, are not in its grid")
    if summary.race is not None:
        raise _Unused("a race stopped configurations before all questions were asked")
    judge = next((role.judge for role in board.roles if role.metric == board.measure), None)
    best, test = rows[0].cell.name, current.comparison
    change = BenchedChange(
        bench=folder.name,
        of="answers",
        system=system,
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
