"""A folder as BEIR publishes its sets: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv."""

from collections.abc import Iterator
from pathlib import Path

from ragstone.features.import_._rows import (
    Found,
    Grades,
    ImportOptions,
    Source,
    found_in,
    left_out,
    skipped,
)
from ragstone.features.import_._sheets import open_sheet
from ragstone.features.import_._tables import read_documents
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.records import Question
from ragstone.kernel.retrieval.qrels import read_qrels

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
USUAL = "test"


def read_beir(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield the grades of a split, the corpus, and the queries that the split grades.

    Without a folder of qrels all queries come, none of them with documents. Raises DataError where the folder
    is not of this form, and where it does not hold the split.
    """
    folder = source.path
    if not folder.is_dir():
        raise DataError(f"{folder}: a BEIR data set is a folder. Give the folder that holds {QUERIES}.")
    if not (folder / QUERIES).is_file():
        raise DataError(
            f"{folder}: a folder without {QUERIES} is not a BEIR data set. Give the folder that "
            f"holds {CORPUS}, {QUERIES} and {QRELS}, or name files instead of the folder."
        )
    split = _split(folder, options.split)
    grades = read_qrels(folder / QRELS / f"{split}.tsv") if split else None
    for question_id, graded in (grades or {}).items():
        yield Grades(question_id, graded)
    if (folder / CORPUS).is_file():
        yield from read_documents(Source(folder / CORPUS, source.name), options)
    sheet = open_sheet(folder / QUERIES)
    for number, row in sheet.rows:
        location = sheet.place(number)
        if isinstance(row, str):
            yield skipped(location, row)
            continue
        named = {("question" if name == "text" else name): value for name, value in row.items()}
        for item in found_in({name: value for name, value in named.items() if value != {}}, {}, location):
            if isinstance(item, Question) and grades is not None and item.id not in grades:
                yield left_out(location, f"the qrels of the split {split!r} do not grade it")
            else:
                yield item


def _split(folder: Path, wanted: str | None) -> str | None:
    """Return the split to be read; None where there are no qrels. Raises DataError."""
    splits = sorted(path.stem for path in (folder / QRELS).glob("*.tsv"))
    if wanted is not None and wanted not in splits:
        hint = nearest(wanted, splits) if splits else f"It has no qrels: leave --split out, or add {QRELS}."
        raise DataError(f"{folder}: there is no split {wanted!r}. {hint}")
    if wanted is None and splits and USUAL not in splits and len(splits) > 1:
        raise DataError(
            f"{folder}: it has the splits {', '.join(splits)} and none named {USUAL!r}. Choose with --split."
        )
    return wanted or (USUAL if USUAL in splits else next(iter(splits), None))
