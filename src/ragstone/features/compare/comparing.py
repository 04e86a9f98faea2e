"""Two run folders, files of judgements, or lists of them -> what the second is against the first."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragstone.features.compare._chosen import choose_questions, chosen_before, only_chosen, without_verdict
from ragstone.features.compare._modes import compare_modes
from ragstone.features.compare._people import PeopleLabels
from ragstone.features.compare._repeats import fold_repeats
from ragstone.features.compare.matching import JudgedRun, same_questions
from ragstone.features.compare.paired import EFFECT, check_share, compare_judged
from ragstone.features.compare.values import ChosenQuestions, Comparison
from ragstone.kernel.agreement.mapping import mapping_of
from ragstone.kernel.errors import DataError, only_rows
from ragstone.kernel.records import Answer, Document, Judgement, Label, Question, Ranking
from ragstone.kernel.retrieval.relevance import same_documents
from ragstone.kernel.runs.folders import MANIFEST
from ragstone.kernel.runs.settings import RunManifest, read_run_manifest
from ragstone.kernel.runs.summary import RunSummary, chosen_in, read_summary, stale_in
from ragstone.kernel.stages.given import rows_in
from ragstone.kernel.tables import parse_rows, read_rows

TEST = "this test"
Place = os.PathLike[str] | str
Source = Place | RunSummary | Iterable[Judgement | dict[str, Any]]
RowT = TypeVar("RowT", Answer, Document, Judgement, Question, Ranking)


def compare(
    a: Source,
    b: Source,
    *,
    metrics: Collection[str] = (),
    system_a: str | None = None,
    system_b: str | None = None,
    questions: Iterable[Question] | Path | str | None = None,
    shared: bool = False,
    margin: float | None = None,
    min_effect: float = EFFECT,
    seed: int = 0,
    bounds: bool = False,
    labels: Iterable[Label | dict[str, Any]] | Place | None = None,
    mapping: Mapping[str, float] | None = None,
    policy: str | None = None,
    where: str | None = None,
) -> Comparison:
    """Return what run B is against run A, metric by metric, paired by question; B is the new one.

    a, b: run folders, what `run` or `read_run` returns, files of judgements, or judgements. metrics: names of
    metrics or judges, in place of all that both have; fewer of them leave more power to each. system_a,
    system_b: which system of each, where a run has several; without, systems of equal names are compared,
    else the only one of each. questions: their rows, where the runs hold none: questions of one document are
    not independent. shared: compare the questions that both have, though either has others. margin: how much
    worse B may be and pass the gate; min_effect: the difference that is worth finding; both as shares of the
    scale's width. seed: of the intervals and tests. bounds: every mean with failed rows is shown with its
    worst and best case. labels: people's labels of answers of both, or their file, as `agree` takes them:
    verdicts and gate are then of the difference that people would see, found from their labels and the
    judge's scores together; the labelled questions must be a random sample, as `ragstone label A B --compare`
    draws it. Where two runs call their system the same, a column `run` of the labels names the run. mapping:
    what labels mean on the judge's scale, {"good": 1, "bad": 0}. policy: only labels given under these
    instructions, by their digest. where: a filter (docs/reference/filters.md), of two run folders: only
    questions are compared of which it leaves a row in A or B. A filter that asks for results of the systems,
    such as scores, leaves no verdict: see `Comparison.chosen`.

    Raises DataError, naming what differs, for other questions, judges, versions, models or scales, and for
    one run compared with itself; for a run whose answers were chosen by results; for labels of one side
    alone, or of nothing that is compared; ConfigError for a margin or an effect that is none.
    """
    a, b = _placed(a), _placed(b)
    paths = [Path(run).resolve() for run in (a, b) if isinstance(run, os.PathLike | str)]
    if (a is b or (len(paths) == 2 and paths[0] == paths[1])) and system_a == system_b:
        raise DataError(
            f"{os.fspath(a) if isinstance(a, os.PathLike | str) else 'the first list'}: A and B are the same "
            "run, so nothing can differ. Name another run, or two systems of this one: system_a and system_b "
            "(--system-a NAME --system-b NAME)."
        )
    rows = _questions(questions)
    sides = (read_judged(a, "the first list", rows), read_judged(b, "the second list", rows))
    chosen, before = None, chosen_before(sides)
    if where is not None:
        chosen, ids = choose_questions((_run_folder(a), _run_folder(b)), where)
        sides = (only_chosen(sides[0], ids), only_chosen(sides[1], ids))
        if chosen.by_results and labels is not None:
            raise DataError(
                f"Labels cannot be used here: the filter chose the questions by {chosen.by_results[0]}, so "
                "there is no verdict to correct. Leave out the labels or the filter."
            )
    comparison = compare_judged(
        *sides,
        metrics=metrics,
        systems=(system_a, system_b),
        shared=shared,
        margin=margin,
        effect=min_effect,
        seed=seed,
        labels=None if labels is None else read_people(labels, mapping or {}, policy),
    )
    if before:
        n = len({row.question_id for side in sides for row in side.judgements})
        only = ChosenQuestions(where=before, n=comparison.n_shared, of=n, by_results=[])
        chosen = msgspec.structs.replace(chosen, where=f"{chosen.where}; {before}") if chosen else only
    if len(paths) == 2 and not (chosen and chosen.by_results):
        modes = compare_modes((paths[0], paths[1]), sides, comparison, is_whole=chosen is None, seed=seed)
        comparison = msgspec.structs.replace(comparison, modes=modes or msgspec.UNSET)
    if chosen:
        comparison = msgspec.structs.replace(comparison, chosen=chosen)
        comparison = without_verdict(comparison) if chosen.by_results else comparison
    return msgspec.structs.replace(comparison, bounds_from=0.0) if bounds else comparison


def _run_folder(source: Place | Iterable[Judgement | dict[str, Any]]) -> Path:
    """Return the folder whose rows a filter can choose from. Raises DataError for what is none."""
    if not isinstance(source, os.PathLike | str) or not Path(source).is_dir():
        raise DataError("A filter needs two run folders: name runs, or leave out the filter (--where).")
    return Path(source)


class RunBaseline(msgspec.Struct, frozen=True, kw_only=True):
    """The run (A) that the rows of a test (B) are compared with. margin: see compare."""

    run: JudgedRun
    margin: float | None
    labels: PeopleLabels | None


def read_baseline(
    baseline: Path, questions: list[Question], *, margin: float | None, labels: Path | None
) -> RunBaseline:
    """Return what a test is compared with, before its application is asked.

    questions: of the test. labels: people's, of answers of both; one with the text of its answer counts only
    while that is the same. Raises DataError where the run is of one system and of other questions,
    ConfigError for a margin that is none.
    """
    check_share("margin", margin)
    people = read_people(labels, {}) if labels else None
    then = read_judged(baseline, str(baseline), [])
    # Of several systems, which one is compared is known when the test's own has answered.
    if len({row.system for row in fold_repeats(then).judgements}) == 1:
        ids = dict.fromkeys(row.question_id for row in then.judgements)
        now = JudgedRun(name=TEST, judgements=[], questions=questions, judges={})
        same_questions(then, now, ids, [question.id for question in questions], shared=None)
    return RunBaseline(run=then, margin=margin, labels=people)


def compare_with_baseline(
    baseline: RunBaseline, judgements: list[Judgement], answers: list[Answer], questions: list[Question]
) -> Comparison:
    """Return what the rows of a test (B) are against its baseline. Raises DataError where they differ."""
    now = JudgedRun(name=TEST, judgements=judgements, answers=answers, questions=questions, judges={})
    return compare_judged(baseline.run, now, shared=None, margin=baseline.margin, labels=baseline.labels)


def read_people(
    labels: Iterable[Label | dict[str, Any]] | Place, mapping: Mapping[str, float], policy: str | None = None
) -> PeopleLabels:
    """Return people's labels. mapping, policy: see compare. Raises DataError, also where there are none."""
    words, numbers = mapping_of(mapping)
    if isinstance(labels, os.PathLike | str):
        rows, name = (
            list(read_rows(labels if isinstance(labels, str) else Path(labels), Label, words=words)),
            str(labels),
        )
    else:
        rows, name = parse_rows(labels, Label), "labels"
    if not rows:
        raise DataError(
            f"{name}: there are no labels. Give labels of both systems' answers, or leave them out."
        )
    return PeopleLabels(name=name, labels=rows, mapping=numbers, policy=policy)


def read_judged(source: Source, name: str, questions: list[Question]) -> JudgedRun:
    """Return a run as far as it is compared. name: of one that is no file. Raises DataError."""
    source = _placed(source)
    if not isinstance(source, os.PathLike | str):
        rows = parse_rows(source, Judgement)
        name = f"{name} ({len(rows):,} judgements)"
        return JudgedRun(name=name, judgements=rows, questions=questions, judges={})
    path = Path(source)
    if path.is_dir():
        return _read_folder(path, questions)
    if not path.exists():
        raise DataError(
            f"{path}: no such file or folder. Name a run, such as runs/starter, or a file of judgements."
        )
    judgements = list(read_rows(path, Judgement))
    return JudgedRun(name=str(path), judgements=judgements, questions=questions, chosen=chosen_in(path))


def _read_folder(folder: Path, questions: list[Question]) -> JudgedRun:
    judgements = rows_in(folder, "judgements")
    if judgements is None:
        raise DataError(
            f"{folder}: not a run, because it has no judgements.jsonl. Name one that `ragstone run` wrote, "
            "or a "
            "file of judgements."
        )
    manifest = read_run_manifest(folder / MANIFEST)
    rankings = list(_rows(folder, "rankings", Ranking))
    same, lengths = _documents(folder, manifest) if rankings else ({}, {})
    return JudgedRun(
        name=str(folder),
        judgements=list(read_rows(judgements, Judgement)),
        answers=list(_rows(folder, "answers", Answer)),
        questions=questions or list(_rows(folder, "questions", Question)),
        rankings=rankings,
        same=same,
        lengths=lengths,
        judges={name: judge.digest for name, judge in manifest.judges.items()} if manifest else None,
        manifest=manifest,
        chosen=chosen_in(folder),
        stale=stale_in(folder),
    )


def _documents(folder: Path, manifest: RunManifest | None) -> tuple[dict[str, str], dict[str, int]]:
    """Return which documents count as the same, and how long each is; their texts are not held."""
    lengths: dict[str, int] = {}
    documents = []
    for row in _rows(folder, "documents", Document):
        lengths[row.id] = len(row.text)
        documents.append(msgspec.structs.replace(row, text=""))
    copies = manifest.settings.get("documents", {}).get("copies") if manifest else None
    return same_documents(documents, copies if isinstance(copies, str) else None), lengths


def _rows(folder: Path, kind: str, row_type: type[RowT]) -> Iterator[RowT]:
    path = rows_in(folder, kind)
    return read_rows(path, row_type) if path else iter(())


def _questions(source: Iterable[Question] | Path | str | None) -> list[Question]:
    if source is None:
        return []
    if isinstance(source, Path | str):
        return list(read_rows(source, Question))
    return list(only_rows("questions", source, Question))


def _placed(source: Source) -> Place | Iterable[Judgement | dict[str, Any]]:
    """Return the folder of a run's numbers, and anything else as it is given. Raises DataError."""
    if not isinstance(source, RunSummary):
        return source
    folder = Path("runs") / source.name
    there = read_summary(folder) if (folder / "summary.json").is_file() else None
    if there is None or msgspec.structs.replace(there, bounds_from=source.bounds_from) != source:
        raise DataError(
            f"The summary of run {source.name!r} holds no rows to compare, and {folder} "
            f"{'is another run' if there else 'does not exist'}. Name the run's folder, or give what "
            "ragstone.read_run(FOLDER) returns."
        )
    return folder
