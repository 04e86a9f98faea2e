"""Blame as a part of the report: what its template calls."""

from ragstone.report import blame_words


def words_of_blame() -> dict[str, object]:
    """Return the words of template/blame.html."""
    return {
        "blame_outcome": blame_words.outcome,
        "blame_worth": blame_words.worth,
        "blame_judged_by": blame_words.judged_by,
        "blame_left_out": blame_words.left_out,
        "blame_shares": blame_words.shown_shares,
        "blame_longest": blame_words.longest,
        "blame_share": blame_words.share_told,
        "blame_range": blame_words.share_range,
        "blame_what": blame_words.WHAT,
        "blame_of_cause": blame_words.of_cause,
        "blame_notes": blame_words.notes,
        "blame_most": blame_words.SHOWN_QUESTIONS,
    }
