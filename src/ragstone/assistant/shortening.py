"""A text that is too long for where it is shown -> its beginning, cut between two words."""

MARK = "…"


def shortened(text: str, most: int, mark: str = MARK) -> str:
    """Return a text of at most `most` characters; a longer one ends with a whole word and the mark.

    A text whose last third has no space, as in scripts that write none, is cut where it must be.
    """
    if len(text) <= most:
        return text
    room = most - len(mark)
    begun = text[: room + 1]
    whole = begun[: max(begun.rfind(space) for space in " \n\t")] if any(map(str.isspace, begun)) else ""
    kept = whole if len(whole) > room * 2 // 3 else text[:room]
    return kept.rstrip(" \n\t,;:-–—(") + mark
