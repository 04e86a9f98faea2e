"""What an answer says of a statement: that it is true, that it is false, or neither."""

import re

from ragstone.kernel.judging._truth_clauses import Clause, begins, folded, is_frame, is_hedged, read_clause
from ragstone.kernel.records import Said

# What says it only if it is the whole answer: `1.` may begin a list.
SIGNS = {
    "t": True,
    "1": True,
    "✓": True,
    "✔": True,
    "✅": True,
    "f": False,
    "0": False,
    "✗": False,
    "✘": False,
    "❌": False,
}

_SENTENCE_END = re.compile(r"([.!?\n。！？।؟]+)")
_CLAUSE = re.compile(
    r"[.,](?!\d)|[;:!?\n。、；：！？।؟،؛—–()\[\]*\"“”«»„「」…]+|(?:^|\s)-+(?=\s)|(?<=[\u0e00-\u0e7f])\s+(?=[\u0e00-\u0e7f])"
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|«[^«»]*»|„[^„“”]*[“”]|「[^「」]*」")
_GREEK_QUESTION = re.compile(r"(?<=[\u0370-\u03ff]);")


def says_true(answer: str, statement: str | None = None) -> bool | None:
    """Return whether an answer says that a statement is true; None if it says neither, or both.

    The first clause that says anything decides (`False, because the true value is ...` says false), unless
    it leaves it open (`It may be true`), or another clause says otherwise. What the answer asks (`Is it true
    that ...? No.`), quotes, or repeats of the `statement` says nothing, and so does a clause with words that
    are neither in the table of its language nor in the statement: what is not understood is never true.
    """
    text = folded(answer)
    if (sign := text.strip(" .*()\n")) in SIGNS:
        return SIGNS[sign]
    sentences = [*_SENTENCE_END.split(_GREEK_QUESTION.sub("?", text)), ""]
    pairs = zip(sentences[::2], sentences[1::2], strict=True)
    asserted = "".join(sentence + end for sentence, end in pairs if not {*end} & {*"?？؟"})
    known = folded(statement).strip(" .。।") if statement else ""
    if known:
        asserted = asserted.replace(known, " ")
    unquoted = _QUOTED.sub(" ", asserted)
    verdict = _said_of(unquoted, known)
    if verdict is None and unquoted != asserted and is_frame(unquoted):
        return _said_of(asserted, known)
    return verdict


def what_is_said(answer: str, statement: str | None = None) -> Said:
    """Return what an answer says of a statement, in a word."""
    verdict = says_true(answer, statement)
    return "neither" if verdict is None else "true" if verdict else "false"


def _said_of(text: str, statement: str) -> bool | None:
    """Return what the clauses of a text say together."""
    clauses = [clause for clause in map(str.strip, _CLAUSE.split(text)) if clause]
    once = {clause: read_clause(clause, statement, text) for clause in dict.fromkeys(clauses)}
    read = _in_sequence(clauses, [once[clause] for clause in clauses])
    at = next((n for n, reading in enumerate(read) if reading in ("true", "false", "open")), None)
    if at is None or read[at] == "open" or (begins(clauses[at], "but") and "unread" in read[:at]):
        return None
    contrary = {"false", "denial", "doubt", "open"} if read[at] == "true" else {"true", "doubt", "open"}
    if not contrary.isdisjoint(read):
        return None
    if read[at] == "true" and any(
        begins(clause, "but") and is_hedged(clause) for clause in clauses[at + 1 :]
    ):
        return None
    return read[at] == "true"


def _in_sequence(clauses: list[str], read: list[Clause]) -> list[Clause]:
    """Return what the clauses say, where one that begins with `that` depends on the one before it.

    Behind a verdict it belongs to the statement; behind "I cannot say" or what is not understood it is open.
    """
    settled = list(read)
    for at, reading in enumerate(read):
        if at and reading != "nothing" and begins(clauses[at], "that"):
            if settled[at - 1] in ("true", "false"):
                settled[at] = "nothing"
            elif settled[at - 1] != "nothing" or not is_frame(clauses[at - 1]):
                settled[at] = "open"
    return settled
