"""What the terminal shows of statements without support: how many, and the first of them by question."""

import re
from collections.abc import Iterator, Sequence

from ragstone.judging.summary import MetricSummary
from ragstone.judging.unsupported import Unsupported
from ragstone.report.wording import count, judge_name, one_line, plural

WIDTH = 80
LONGEST_ID = 24
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")  # a terminal would obey them
KINDS = {"answer": "statement", "reference": "statement of the references", "contexts": "context"}
WORDS = {
    "answer": "not supported",
    "reference": "missing from the answers",
    "contexts": "of no use for the question",
}


def unsupported_lines(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    """Yield a line for each judge, system and text, and the first unsupported statements under it.

    Of contexts none is shown: their beginnings say little. Nothing where no judge gave verdicts.
    """
    several = len({metric.system for metric in metrics}) > 1
    for metric in metrics:
        system = f", {metric.system}" if several else ""
        for one in metric.unsupported:
            yield f"  {judge_name(metric)}{system}: {_counted(one)}"
            if one.of != "contexts":
                yield from (_shown(*pair) for pair in one.first)


def _counted(one: Unsupported) -> str:
    what, _, rest = KINDS[one.of].partition(" ")
    things = f"{plural(one.n, what)} {rest}".rstrip()
    return f"{count(one.n_unsupported)} of {things} {WORDS[one.of]} ({plural(one.n_rows, 'answer')})"


def _shown(question_id: str, statement: str) -> str:
    lead = f"    {_short(question_id, LONGEST_ID)}: "
    return lead + _short(statement, WIDTH - len(lead))


def _short(text: str, length: int) -> str:
    return one_line(CONTROL.sub(" ", text), length)
