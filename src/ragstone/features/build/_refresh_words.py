"""What a refresh did -> lines for a terminal."""

from ragstone.features.build.refresh import RefreshSummary
from ragstone.kernel.errors import plural

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
SHOWN = 4  # questions that need a person, with the reason


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
