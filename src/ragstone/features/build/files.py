"""The files of a build: whether they may be written, asked before anything is paid for, and all at once.

With `-o DIR/questions.jsonl`: `questions.jsonl` (accepted), `questions.all.jsonl` (every candidate, the lost
with their reason), `questions.dev.jsonl` and `questions.test.jsonl` (where a share is set apart), and the
certificate, of which a folder has one.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.dataset.split import Side
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Question
from ragstone.kernel.runs.run import CERTIFICATE
from ragstone.kernel.tables import check_output, check_place, open_rows

SIDES: tuple[Side, ...] = ("dev", "test")
CERTIFICATE_PAGE = "certificate.html"
FICTIONAL = ("documents.jsonl", "questions.jsonl")


def part_path(output: Path, part: Literal["all", "dev", "test"]) -> Path:
    """Return where a part of a build stands: `questions.jsonl` -> `questions.all.jsonl`."""
    return output.with_name(f"{output.stem}.{part}{output.suffix}")


def fictional_paths(output: Path) -> list[Path]:
    """Return where the fictional variant's documents and questions stand."""
    return [output.parent / "fictional" / name for name in FICTIONAL]


def build_paths(output: Path, declared: BuildSection) -> list[Path]:
    """Return where all files of a build stand, `output` first."""
    return [
        output,
        part_path(output, "all"),
        *([part_path(output, side) for side in SIDES] if declared.test_share else []),
        *(fictional_paths(output) if declared.fictional else []),
        *(output.parent / name for name in (CERTIFICATE, CERTIFICATE_PAGE)),
    ]


def check_build_outputs(output: Path | str, declared: BuildSection, force: bool) -> None:
    """Check that all files of a build may be written; to be called before anything is paid for.

    declared: says whether there are splits and a fictional variant. Raises DataError when one of the files
    exists and `force` is not given, when the folder cannot be written to, when the ending names no format,
    and, with `force` too, when the folder's certificate is that of another output.
    """
    output = Path(output)
    certificate = output.parent / CERTIFICATE
    if certificate.exists() and not part_path(output, "all").exists():
        raise DataError(
            f"{certificate} is the certificate of another build. Give {output.name} a folder of its own, "
            f"e.g. -o {output.parent / output.stem / output.name}"
        )
    check_output(output, force)
    for path in build_paths(output, declared):
        check_place(path, force)


def give_ids(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates with ids `DOCUMENT#N`, N counting those of a document from 1, the lost too.

    The document is the first of those that a candidate was written from.
    """
    counts: dict[str, int] = {}
    numbered = []
    for candidate in candidates:
        document = candidate.passages[0].document_id
        counts[document] = counts.get(document, 0) + 1
        question = msgspec.structs.replace(candidate.question, id=f"{document}#{counts[document]}")
        numbered.append(msgspec.structs.replace(candidate, question=question))
    return numbered


def write_build(
    output: Path | str,
    accepted: Sequence[Question],
    candidates: Sequence[Candidate],
    split: Mapping[str, Side] | None,
    force: bool,
) -> list[Path]:
    """Write the accepted questions, all candidates and the splits, and return the paths, `output` first.

    split: the side of each accepted question's id; None where nothing is set apart. force: replaces an
    earlier build; its splits and its fictional variant are removed, for they are of other questions. The
    files are put in place when all of them are whole; after an error the rows stand in `NAME.partial` beside
    each of them.
    """
    output = Path(output)
    parts: dict[Path, list[Question]] = {
        output: list(accepted),
        part_path(output, "all"): [row_of(candidate) for candidate in candidates],
    }
    for side in SIDES if split is not None else ():
        parts[part_path(output, side)] = [row for row in accepted if (split or {})[row.id] == side]
    with contextlib.ExitStack() as stack:
        for path, rows in parts.items():
            write = stack.enter_context(open_rows(path, Question, force=force))
            for row in rows:
                write(row)
    for path in [*(part_path(output, side) for side in SIDES), *fictional_paths(output)] if force else []:
        if path not in parts:
            path.unlink(missing_ok=True)
    return list(parts)


def row_of(candidate: Candidate) -> Question:
    """Return a candidate's question; of a lost one with `metadata.lost`."""
    question, loss = candidate.question, candidate.loss
    if loss is None:
        return question
    return msgspec.structs.replace(question, metadata={**(question.metadata or {}), "lost": loss.note()})
