"""What a comparison on questions that a filter chose may say: each sentence with its condition."""

from ragstone.features.compare._sizes import listed
from ragstone.features.compare.values import ChosenQuestions, SeveralRuns
from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence


def _filled(chosen: ChosenQuestions) -> dict[str, str]:
    depend = "depends" if len(chosen.by_results) == 1 else "depend"
    columns = f"{listed(chosen.by_results)}, which {depend}" if chosen.by_results else ""
    return {
        "n": count(chosen.n),
        "questions": plural(chosen.of, "question"),
        "where": chosen.where,
        "columns": columns,
    }


CHOSEN = {
    "n": "questions that the filter leaves in A or B",
    "questions": "of A or B without it",
    "where": "the filter",
}
BY_QUESTION = Sentence[ChosenQuestions](
    code="chosen-by-question",
    text="Compared on {n} of {questions}, chosen by a filter: {where}. The conclusions hold for questions "
    "like these, not for all. If you chose the filter after looking at results, the p-values are too "
    "small.",
    when="a filter chose the questions, and asks for nothing but what a question says of itself: its id, "
    "text, reference, kind, language, tags that are the same for every system, and whether it can be "
    "answered",
    holds=lambda chosen: not chosen.by_results,
    needs=CHOSEN,
    fills=_filled,
)
BY_RESULT = Sentence[ChosenQuestions](
    code="chosen-by-result",
    text="No verdict: the filter chose {n} of {questions} by {columns} on the answers that are compared "
    "({where}).",
    when="a filter chose the questions, and asks for a result of a system: a score or a status, an answer, a "
    "rank, time or cost, a cause, a note, a flip, a tag that differs between systems, or all texts of a row",
    holds=lambda chosen: bool(chosen.by_results),
    needs={**CHOSEN, "columns": "the columns of the filter that hold results"},
    fills=_filled,
    never_beside=(
        *("chosen-by-question", "compare-better", "compare-worse", "compare-cannot-tell"),
        *("compare-better-in", "compare-worse-in", "compare-cannot-tell-in", "gate-passed", "gate-failed"),
    ),
)
WHY_NOT = Sentence[ChosenQuestions](
    code="chosen-for-results",
    text="Results vary by chance, so questions chosen by them make a side look better or worse for that "
    "reason alone (regression to the mean). Compare all questions, or filter by what a question says of "
    "itself.",
    when="as chosen-by-result",
    holds=BY_RESULT.holds,
    never_beside=("chosen-by-question",),
)
MEANS_OF_CHOSEN = Sentence[SeveralRuns](
    code="several-chosen",
    text="These runs hold only answers chosen by a filter: {where}. Means and ranks say nothing about other "
    "answers.",
    when="all runs shown side by side hold answers that the same filter chose, by nothing but what a "
    "question says of itself",
    holds=lambda several: bool(several.chosen),
    needs={"where": "the filter"},
    fills=lambda several: {"where": several.chosen or ""},
)
SENTENCES = (BY_QUESTION, BY_RESULT, WHY_NOT, MEANS_OF_CHOSEN)
