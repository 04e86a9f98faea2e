"""Where a judge found nothing to score: which columns of the sheet no field was read from."""

from collections.abc import Callable, Iterator
from itertools import islice

from ragstone.judging import MetricSummary
from ragstone.records import Answer

FIELDS = ("contexts", "reference", "question")  # that of the longest texts first
LOOKED_AT = 100  # rows
PASSAGE = 20  # characters; no shorter text is a passage


def unread_notes(
    metrics: list[MetricSummary], answers: Callable[[], Iterator[Answer]]
) -> tuple[list[str], list[str]]:
    """Return what is to be told of judges that scored nothing, and the options that mend it.

    Empty where every judge scored something, or where the sheet has no column of text that was not read.
    """
    blind = [one for one in metrics if one.estimate is None and one.statuses.keys() == {"not_applicable"}]
    lacking = [field for field in FIELDS if any(field in why for one in blind for why in one.reasons)]
    rows = [row.metadata or {} for row in islice(answers(), LOOKED_AT)] if lacking else []
    lengths: dict[str, int] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, str | list) and not str(value).rstrip().endswith("?"):
                lengths[name] = max(lengths.get(name, 0), len(str(value)))
    if "contexts" in lacking and max(lengths.values(), default=0) < PASSAGE:
        lacking.remove("contexts")
    if not lengths or not lacking:
        return [], []
    judges = ", ".join(dict.fromkeys(one.judge for one in blind))
    told = (
        f"Nothing was scored by {judges}: the sheet has no {' and no '.join(lacking)}. Columns that were not "
        f"read: {', '.join(map(repr, lengths))}. If they are meant, say so."
    )
    longest = sorted(lengths, key=lambda name: -lengths[name])
    pairs = zip(lacking, longest, strict=False)
    return [told], [*(part for pair in pairs for part in ("--column", "=".join(pair))), "--force"]
