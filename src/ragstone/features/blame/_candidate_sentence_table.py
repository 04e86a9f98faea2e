"""What blame may say of changes that a bench has measured: each sentence with its condition."""

from ragstone.kernel.document.numbers import count, p_told, signed, signed_range
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.causes import BenchedChange
from ragstone.kernel.sentences import Sentence

SEVERAL = 3  # configurations, from which on the best of them was chosen among many
OF_ANSWERS = ("benched-judged", "benched-by-labels", "benched-no-correctness")


def _of(change: BenchedChange) -> dict[str, str]:
    difference = change.difference
    judge = "" if change.judge in (None, change.measure) else f" by {change.judge}"
    low, high = (difference.low, difference.high) if difference else (None, None)
    return {
        "best": change.best,
        "current": change.current,
        "bench": change.bench,
        "measure": f"{change.measure}{judge}",
        "n": plural(change.n, "configuration"),
        "several": count(change.n),
        "difference": signed(difference.value) if difference else "",
        "ends": "" if low is None or high is None else signed_range(low, high),
        "questions": plural(difference.n, "question") if difference else "",
        "p": p_told(change.p_holm) if change.p_holm is not None else "",
        "family": plural(change.family, "comparison"),
        "labelled": plural(change.n_labelled or 0, "question"),
    }


NEEDS = {
    "best": "the configuration with the highest mean, as the bench names it",
    "current": "the configuration of the run",
    "bench": "the folder of the bench",
    "measure": "what the bench orders by, and the judge of answers where it has another name",
}
BETTER = Sentence[BenchedChange](
    code="benched-better",
    text="{best} instead of {current}: {measure} {difference} ({ends}) on {questions}, as {bench} measured "
    "({p} by Holm's correction over {family}).",
    when="a bench of the same questions and documents, as their digests say, has the run's configuration in "
    "its grid; the best one is shown to be better (corrected p at most 0.05, 95 % interval above 0)",
    holds=lambda change: change.verdict == "better",
    needs=NEEDS
    | {
        "difference": "best minus current, in the unit of the measure",
        "ends": "ends of the 95 % interval of this comparison alone",
        "questions": "those that both have a value of",
        "p": "the corrected p-value",
        "family": "comparisons that the correction is over",
    },
    fills=_of,
    never_beside=("benched-not-shown", "benched-is-best"),
)
NOT_SHOWN = Sentence[BenchedChange](
    code="benched-not-shown",
    text="Of the {n} in {bench}, {best} has the highest {measure}, which is not shown to be better than "
    "{current}.",
    when="the same bench, but p is above 0.05, the interval reaches 0, or the two were not compared",
    holds=lambda change: change.verdict == "cannot tell",
    needs=NEEDS | {"n": "configurations that were compared"},
    fills=_of,
    never_beside=("benched-better", "benched-is-best", "benched-chosen", "benched-retrieval", *OF_ANSWERS),
)
IS_BEST = Sentence[BenchedChange](
    code="benched-is-best",
    text="Of the {n} in {bench}, the run's own ({current}) has the highest {measure}.",
    when="the same bench, with two configurations or more, and the run's has the highest mean",
    holds=lambda change: change.verdict == "is current" and change.n > 1,
    needs={name: text for name, text in NEEDS.items() if name != "best"}
    | {"n": "configurations that were compared"},
    fills=_of,
    never_beside=("benched-better", "benched-not-shown", "benched-chosen", "benched-retrieval", *OF_ANSWERS),
)
CHOSEN = Sentence[BenchedChange](
    code="benched-chosen",
    text="It was chosen as the best of {several} on these questions: expect less on others.",
    when="the best is shown to be better, and three configurations or more were compared",
    holds=lambda change: change.verdict == "better" and change.n >= SEVERAL,
    needs={"several": "configurations that were compared"},
    fills=_of,
)
RETRIEVAL = Sentence[BenchedChange](
    code="benched-retrieval",
    text="This is a gain in retrieval: how many more answers would be right was not measured.",
    when="the best is shown to be better, and the measure is one of rankings",
    holds=lambda change: change.verdict == "better" and change.of == "retrieval",
    never_beside=OF_ANSWERS,
)
BY_LABELS = Sentence[BenchedChange](
    code="benched-by-labels",
    text="People's labels of {labelled} correct the difference.",
    when="the best is shown to be better, the measure is one judge's metric of answers, and people's labels "
    "of both answers decide",
    holds=lambda change: (
        change.verdict == "better"
        and change.of == "answers"
        and change.judge is not None
        and bool(change.n_labelled)
    ),
    needs={"labelled": "questions with labels of both answers"},
    fills=_of,
    never_beside=("benched-retrieval", "benched-judged", "benched-no-correctness"),
)
JUDGED = Sentence[BenchedChange](
    code="benched-judged",
    text="This is a gain in the judge's scores: people may see another difference.",
    when="the best is shown to be better by one judge's metric of answers, without labels",
    holds=lambda change: (
        change.verdict == "better"
        and change.of == "answers"
        and change.judge is not None
        and not change.n_labelled
    ),
    never_beside=("benched-retrieval", "benched-by-labels", "benched-no-correctness"),
)
NO_CORRECTNESS = Sentence[BenchedChange](
    code="benched-no-correctness",
    text="More right answers are not shown: nothing compares them with the reference.",
    when="the best is shown to be better by a measure of answers that no judge of correctness makes",
    holds=lambda change: change.verdict == "better" and change.of == "answers" and change.judge is None,
    never_beside=("benched-retrieval", "benched-by-labels", "benched-judged"),
)
BENCHED = (BETTER, NOT_SHOWN, IS_BEST)
MEANING = (RETRIEVAL, BY_LABELS, JUDGED, NO_CORRECTNESS)
SENTENCES = (*BENCHED, CHOSEN, *MEANING)
