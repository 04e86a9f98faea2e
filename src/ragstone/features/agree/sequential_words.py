"""Agreement while labels come in, in words: the interval for every look, and whether one may stop."""

import math
from collections.abc import Sequence

from ragstone.kernel.agreement.corrected_mean import FEW_LABELS
from ragstone.kernel.agreement.sequential import SequentialAgreement, TrustVerdict
from ragstone.kernel.decimals import decimal
from ragstone.kernel.document.blocks import Paragraph, ReportDocument
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.version import __version__

LEAD = (
    "You may look at these intervals after every label: each holds at all looks with 95 % confidence. Those "
    "of a report card are for one look, at the end."
)


def sequential_document(results: Sequence[SequentialAgreement]) -> ReportDocument:
    """Return what `ragstone agree --sequential` shows of all judges."""
    return ReportDocument(
        title="While labels come in",
        kind="sequential agreement",
        about="",
        version=__version__,
        blocks=[Paragraph(LEAD, tone="muted"), *(_paragraph(result) for result in results)],
    )


def _paragraph(result: SequentialAgreement) -> Paragraph:
    judge = result.judge if result.judge == result.metric else f"{result.judge}: {result.metric}"
    model = "" if result.model == NO_MODEL else f" ({result.model})"
    baseline = " It calls no model: it is a baseline, which the exit code ignores." if result.baseline else ""
    text = f"{judge}{model}: {' '.join(sequential_sentences(result))}{baseline if result.trust else ''}"
    return Paragraph(text, tone="warn" if result.verdict == "not trusted" else "", part="answer")


def sequential_sentences(result: SequentialAgreement) -> list[str]:
    """Return what may be said of a measure while labels come in: the interval, and the verdict of a bar."""
    if result.reason is not None:
        return [result.reason]
    verdict = [] if result.trust is None else [_verdict(result, result.trust)]
    if result.value is None or result.low is None or result.high is None:
        return [f"{result.measure} is undefined: people and the judge gave only one grade.", *verdict]
    unequal = ", drawn with unequal chances, which this accounts for" if result.unequal else ""
    of = f" of {plural(result.n_questions, result.unit)}" if result.n_questions < result.n else ""
    low = math.floor(result.low * 100 + 1e-9) / 100  # outwards: an end is never said to be further in
    high = math.ceil(result.high * 100 - 1e-9) / 100
    return [
        f"{result.measure} so far {number_of(result.value)}: at least {number_of(low)}, at most "
        f"{number_of(high)} ({plural(result.n, 'label')}{of}{unequal}; holds at every look).",
        *verdict,
    ]


def _verdict(result: SequentialAgreement, trust: float) -> str:
    match result.verdict:
        case "trusted":
            return f"Trusted: {result.measure} is above {trust:g}. Labelling may stop."
        case "not trusted":
            return f"Not trusted: {result.measure} is below {trust:g}. Labelling may stop."
        case _ if result.far:
            return (
                f"Undecided: {result.measure} so far is so close to {trust:g} that the number of labels "
                "still needed cannot be estimated."
            )
        case _ if result.more is not None:
            return (
                f"Undecided: about {plural(result.more, 'more label')} would decide, if they are like those "
                "so far."
            )
        case _ if result.n < FEW_LABELS:
            return f"Undecided. From {FEW_LABELS} labels on, this line estimates how many more are needed."
        case _:
            return "Undecided: more labels are needed."


def verdict_of(results: Sequence[SequentialAgreement]) -> TrustVerdict:
    """Return the verdict of all judges together; baselines count where there is nothing else."""
    verdicts = {r.verdict for r in results if not r.baseline} or {r.verdict for r in results}
    return (
        "not trusted" if "not trusted" in verdicts else "undecided" if "undecided" in verdicts else "trusted"
    )


def number_of(value: float) -> str:
    """Return a value with two decimals."""
    return decimal(value)
