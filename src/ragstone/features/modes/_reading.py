"""A model reads wrong answers and says what went wrong, quoting them; what it says is grouped and named.

The three steps (map, merge, name) are those of grounded coding by a model; every quote is looked for in its
row, and what is not there is dropped before anybody sees it. Answers come in parts, and no call sees rows of
two: a mode of one part can then be tested on the answers of the others.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ragstone.kernel.engine.session import Session
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.untrusted import MATERIAL, fenced_prompt, row_nonce
from ragstone.kernel.records import Answer, references
from ragstone.kernel.runs.modes import EvidencePart, ModeEvidence

AT_ONCE = 5  # rows of one call
LONGEST_CALL = 20_000  # characters of the rows of one call; a longer row is read alone
LONGEST_CONTEXT, LONGEST_PART = 2_000, 1_500  # characters of a row that are shown
AROUND = " \t\n\"'“”„«»…."  # what may be around a quote
LEAST_QUOTE = 6  # characters that a quote has, unless it is all of the answer
MOST_MODES = 8
FEWEST_ROWS = 2  # that a mode must quote: of one row it is an observation
LONGEST_QUESTION = 280

READ = (
    "You read answers of a question-answering system that a judge calls wrong. For each row say in at most "
    "twelve words what kind of mistake the answer makes, so that the same kind in other rows would get the "
    "same words, and copy word for word a few words of the row's answer, question or passages that show it. "
    f"Leave out rows whose mistake you do not see. {MATERIAL}"
)
READ_FORM = (
    '{"nonce": the code, "rows": [{"row": number, "what": kind of mistake, "quote": words copied from it}]}'
)
MERGE = (
    "You are given notes on wrong answers of a question-answering system, each with its number. Group those "
    f"that name the same kind of mistake, into at most {MOST_MODES} groups; a note may be in none. For each "
    "group give a name of two to five words, and a statement of one sentence about an answer that is true of "
    "answers with that mistake and false of others, such as: The answer is about another crop than the "
    f"question. {MATERIAL}"
)
MERGE_FORM = (
    '{"nonce": the code, "groups": [{"name": two to five words, "statement": one sentence, '
    '"notes": [numbers]}]}'
)


class RowRemark(msgspec.Struct):
    """What a model says of a row."""

    row: int
    what: str
    quote: str


class ReadReply(msgspec.Struct):
    """The reply on some rows."""

    rows: list[RowRemark]


class RemarkGroup(msgspec.Struct):
    """A mode as the model names it."""

    name: str
    statement: str
    notes: list[int]


class MergeReply(msgspec.Struct):
    """The reply on all remarks."""

    groups: list[RemarkGroup]


class WrongRow(msgspec.Struct, frozen=True):
    """A wrong answer, joined with its question. beside: the judge's reason, statements without support."""

    answer: Answer
    beside: str = ""


class ReadMode(msgspec.Struct, frozen=True, kw_only=True):
    """A mode that a model proposes after reading a part; the quotes hold."""

    part: int
    title: str
    question: str
    evidence: list[ModeEvidence]


class ReadModes(msgspec.Struct, frozen=True, kw_only=True):
    """What a model proposes. n_quotes: its quotes, n_held: those that are in their row.

    n_dropped: modes that quote fewer than two rows truly. n_failed: calls that failed.
    """

    modes: list[ReadMode]
    n_quotes: int
    n_held: int
    n_dropped: int
    n_failed: int


async def read_modes_of(parts: Sequence[Sequence[WrongRow]], model: str, session: Session) -> ReadModes:
    """Return the modes that a model proposes after reading these rows, part by part."""
    ask, secret = await session.models.ask(model), session.secret()
    pieces = [(number, piece) for number, rows in enumerate(parts) for piece in _pieces(rows)]

    async def read(numbered: tuple[int, Sequence[WrongRow]]) -> list[tuple[WrongRow, RowRemark]] | None:
        _, piece = numbered
        material = {f"row_{number}": _text(row) for number, row in enumerate(piece, 1)}
        prompt = fenced_prompt(
            READ,
            material,
            form=READ_FORM,
            reply=ReadReply,
            nonce=row_nonce(secret, ["modes", *material.values()]),
            max_tokens=120 * len(piece),
            temperature=0.0,
        )
        try:
            reply = (await ask(prompt)).value
        except CallFailed:
            return None
        return [(piece[one.row - 1], one) for one in reply.rows if 1 <= one.row <= len(piece)]

    replies = await session.each("read wrong answers", read, pieces)
    held: list[list[tuple[str, ModeEvidence]]] = [[] for _ in parts]
    for (number, _), reply in zip(pieces, replies, strict=True):
        for row, remark in reply or ():
            if evidence := held_quote(row, remark.quote):
                held[number].append((" ".join(remark.what.split()), evidence))

    async def merge(part: Sequence[tuple[str, ModeEvidence]]) -> list[RemarkGroup] | None:
        listed = "\n".join(f"{number}. {what}" for number, (what, _) in enumerate(part, 1))
        prompt = fenced_prompt(
            MERGE,
            {"notes": listed},
            form=MERGE_FORM,
            reply=MergeReply,
            nonce=row_nonce(secret, ["modes", listed]),
            max_tokens=1_500,
            temperature=0.0,
        )
        try:
            return [*(await ask(prompt)).value.groups[:MOST_MODES]]
        except CallFailed:
            return None

    numbers = [number for number, part in enumerate(held) if part]
    merged = await session.each("name what was read", merge, [held[number] for number in numbers])
    modes = [
        mode
        for number, groups in zip(numbers, merged, strict=True)
        for mode in _named(groups or (), [evidence for _, evidence in held[number]], number)
    ]
    return ReadModes(
        modes=modes,
        n_quotes=sum(len(reply or ()) for reply in replies),
        n_held=sum(map(len, held)),
        n_dropped=sum(len(groups or ()) for groups in merged) - len(modes),
        n_failed=sum(reply is None for reply in (*replies, *merged)),
    )


def _pieces(rows: Sequence[WrongRow]) -> Iterator[list[WrongRow]]:
    """Yield the rows by as many as one call shows: few, and of a bounded length together."""
    piece: list[WrongRow] = []
    length = 0
    for row in rows:
        own = len(_text(row))
        if piece and (len(piece) == AT_ONCE or length + own > LONGEST_CALL):
            yield piece
            piece, length = [], 0
        piece.append(row)
        length += own
    if piece:
        yield piece


def _named(groups: Sequence[RemarkGroup], held: Sequence[ModeEvidence], part: int) -> Iterator[ReadMode]:
    for group in groups:
        places = dict.fromkeys(number for number in group.notes if 1 <= number <= len(held))
        evidence = [held[number - 1] for number in places]
        title, question = " ".join(group.name.split()), " ".join(group.statement.split())
        if len({(one.question_id, one.system) for one in evidence}) >= FEWEST_ROWS and title and question:
            yield ReadMode(part=part, title=title, question=question[:LONGEST_QUESTION], evidence=evidence)


def held_quote(row: WrongRow, quote: str) -> ModeEvidence | None:
    """Return the evidence that a quote is, with the part that it is from; None where no part has it.

    Case, line breaks and quotation marks around it do not count.
    """
    answer = row.answer
    part = next((name for name, text in _parts(row).items() if is_in(quote, text, answer.answer)), None)
    if part is None:
        return None
    return ModeEvidence(
        question_id=answer.question_id, system=answer.system, quote=" ".join(quote.split()), part=part
    )


def is_in(quote: str, text: str, whole: str | None = None) -> bool:
    """Return whether a quote is in a text, and long enough to say something, or all of `whole` (the text).

    Case, line breaks and quotation marks around it do not count.
    """
    wanted, every = _plain(quote.strip(AROUND)), _plain((text if whole is None else whole).strip(" ."))
    return bool(wanted) and (len(wanted) >= LEAST_QUOTE or wanted == every) and wanted in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _parts(row: WrongRow) -> Mapping[EvidencePart, str]:
    answer = row.answer
    return {
        "answer": answer.answer,
        "question": answer.question or "",
        "contexts": "\n".join(one.text for one in answer.contexts or ()),
        "reference": "\n".join(references(answer)),
        "rationale": row.beside,
    }


def _text(row: WrongRow) -> str:
    parts = _parts(row)
    limits = {"contexts": LONGEST_CONTEXT}
    names = {"rationale": "what the judge says", "contexts": "passages", "reference": "right answer"}
    lines = [
        f"{names.get(name, name)}: {text[: limits.get(name, LONGEST_PART)] or '(empty)'}"
        for name, text in parts.items()
        if text or name == "answer"
    ]
    return "\n".join(lines)
