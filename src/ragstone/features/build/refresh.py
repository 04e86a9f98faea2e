"""An evaluation set and the documents of today -> the set with its evidence where it is now."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from ragstone.features.build._session import read_sources
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.dataset.certificate import digests_of
from ragstone.kernel.dataset.placing import SOURCES, PlacedEvidence, remember_sources
from ragstone.kernel.dataset.stale import check_evidence
from ragstone.kernel.errors import DataError, checks_arguments, plural, takes_rows
from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables import check_output, check_place, keep_sources, open_rows, read_rows

NOTE = "refresh"  # in a question's metadata: what a refresh did with it, and what it found
SHOWN = 4  # questions that need a person, with the reason
MEANINGS = {
    "unchanged": "the evidence is where it was",
    "moved": "found again, word for word, at another place or in another document",
    "edited": "found again in other words that change no number, negation or reference",
    "answer changed": "a number, a negation or the reference in the evidence has changed",
    "evidence changed": "the evidence says something else, and nobody knows whether the answer has changed",
    "evidence gone": "its words, or enough of them, were not found in any document",
    "document gone": "no document has the id that the question names, and its evidence was not found"
    " by its words",
    "unclear": "the evidence may be at several places, or nothing but the document is known",
    "unknown": "nothing is remembered of the evidence",
    "none": "the question names no evidence and no document",
}


class RefreshedRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a question's evidence. because: why a person has to look, of those that need one."""

    id: str
    state: str
    because: str | None = None
    set_aside: bool = False


class RefreshSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a refresh did with a set.

    states: state -> number of questions (see check_evidence); `none` of those that name no evidence. rows:
    those whose evidence is not unchanged, in the order of the set. remembered: questions whose evidence
    nothing was known of, and is remembered from now on as these documents have it. set_aside: questions that
    are stale, and left out of the new set. questions_digest: SHA-256 of the new set's questions; from_digest:
    of the old one's. files: what was written.
    """

    n_questions: int
    n_documents: int
    states: dict[str, int]
    rows: list[RefreshedRow]
    remembered: int
    set_aside: int
    from_digest: str
    questions_digest: str
    files: list[str] = []


class RefreshedSet(msgspec.Struct, frozen=True, kw_only=True):
    """questions: the new set. stale: the questions left out of it, as they were, with the reason in
    `metadata.refresh`. summary: the numbers.
    """

    questions: list[Question]
    stale: list[Question]
    summary: RefreshSummary


@takes_rows(questions=Question, documents=Document)
def refresh_questions(questions: Sequence[Question], documents: Sequence[Document]) -> RefreshedSet:
    """Return the questions with their evidence where it is in these documents; those that are stale apart.

    Evidence that moved, within its document or to another one, or that was edited and says the same, is
    placed anew; what it says now is remembered, so that the next refresh starts from there. A question that
    changed has `metadata.refresh`: its state, and the spans `from` which its evidence was moved. So does one
    that is stale, or whose place is unclear, with the reason; its evidence is left as it was. Refreshed again
    by the same documents, a set stays the same. Raises DataError where no question names evidence or
    documents.
    """
    if not any(question.evidence or question.document_ids for question in questions):
        raise DataError(
            "no question names evidence or documents, so there is nothing to refresh. Give a set with the "
            "column evidence or document_ids."
        )
    checked = check_evidence(questions, documents)
    is_stale = checked.stale
    texts = {document.id: document.text for document in documents}
    current: list[Question] = []
    stale: list[Question] = []
    rows: list[RefreshedRow] = []
    remembered = 0
    for old, new in zip(questions, checked.questions, strict=True):
        state = checked.states.get(old.id)
        if state not in (None, "unchanged"):
            set_aside = old.id in is_stale
            rows.append(
                RefreshedRow(
                    id=old.id, state=str(state), because=checked.because.get(old.id), set_aside=set_aside
                )
            )
        row = _refreshed(old, new, checked, texts)
        remembered += state == "unknown" and SOURCES in (row.metadata or {})
        (stale if old.id in is_stale else current).append(row)
    states = Counter(str(checked.states.get(question.id, "none")) for question in questions)
    return RefreshedSet(
        questions=current,
        stale=stale,
        summary=RefreshSummary(
            n_questions=len(questions),
            n_documents=len(texts),
            states=dict(states.most_common()),
            rows=rows,
            remembered=remembered,
            set_aside=len(stale),
            from_digest=digests_of(questions)[0],
            questions_digest=digests_of(current)[0],
        ),
    )


def _refreshed(old: Question, new: Question, checked: PlacedEvidence, texts: Mapping[str, str]) -> Question:
    """Return a question as the new set has it."""
    state = checked.states.get(old.id)
    notes = {name: value for name, value in (old.metadata or {}).items() if name != NOTE}
    if state in ("moved", "edited"):
        spans = msgspec.to_builtins(old.evidence or [])
        noted = msgspec.structs.replace(new, metadata={**notes, NOTE: {"state": state, "from": spans}})
        return remember_sources(noted, texts)
    if state == "unchanged":
        known = (old.metadata or {}).get(SOURCES)
        again = remember_sources(old, texts)
        # Of a document that was edited elsewhere the digest is another one.
        return old if known is None or known == (again.metadata or {}).get(SOURCES) else again
    if state == "unknown":
        return remember_sources(old, texts)
    if state is None:
        return old
    because = checked.because.get(old.id, "")
    return msgspec.structs.replace(old, metadata={**notes, NOTE: {"state": state, "because": because}})


@checks_arguments
def refresh_file(
    questions: Path | str,
    sources: Sequence[Path | str],
    output: Path | str,
    *,
    settings: Settings | None = None,
    force: bool = False,
) -> RefreshedSet:
    """Refresh a file of questions, and write the new set, and the stale questions beside it.

    sources: a file of documents, or files and folders that `ragstone ingest` reads. output: of another name
    than `questions`; `NAME.stale.jsonl` beside it gets the questions that are stale. If none is, a file of
    that name is left as it is, for somebody may have worked on it. Raises DataError for files that cannot be
    read or written, for chunks in place of documents, and as refresh_questions does.
    """
    output = Path(output)
    aside = stale_path(output)
    keep_sources([output, aside], [questions, *sources])
    check_output(output, force)
    check_place(aside, force)
    rows = list(read_rows(questions, Question))
    documents = [
        row for row in read_sources(sources, settings or load_settings()) if isinstance(row, Document)
    ]
    if not documents:
        raise DataError(f"{sources[0]}: chunks, but evidence is looked for in whole documents. Give those.")
    made = refresh_questions(rows, documents)
    files = {output: made.questions} | ({aside: made.stale} if made.stale else {})
    with ExitStack() as stack:
        for path, of_file in files.items():
            write = stack.enter_context(open_rows(path, Question, force=force))
            for row in of_file:
                write(row)
    summary = msgspec.structs.replace(made.summary, files=[str(path) for path in files])
    return msgspec.structs.replace(made, summary=summary)


def stale_path(output: Path) -> Path:
    """Return where the stale questions are: `questions.jsonl` -> `questions.stale.jsonl`."""
    return output.with_name(f"{output.stem}.stale{output.suffix}")


def refresh_lines(summary: RefreshSummary) -> list[str]:
    """Return what became of the evidence, and the first questions that need a person."""
    lines = [f"{plural(summary.n_questions, 'question')}, {plural(summary.n_documents, 'document')}"]
    for state, meaning in MEANINGS.items():
        if summary.states.get(state):
            lines.append(f"{summary.states[state]:9,}  {state}: {meaning}")
    waiting = [row for row in summary.rows if row.because]
    if waiting:
        lines.append(f"{plural(len(waiting), 'question')} for a person to decide:")
        lines += [f"  {row.id} ({row.state}): {row.because}" for row in waiting[:SHOWN]]
    if len(waiting) > SHOWN:
        lines.append(f"  and {len(waiting) - SHOWN:,} more: metadata.refresh of each says why")
    if summary.remembered:
        lines.append(
            f"The evidence of {plural(summary.remembered, 'question')} is remembered from now on as these "
            "documents have it. Whether they had changed before is unknown: check some."
        )
    return lines
