"""What a study of languages says in words, the same on its page and in the terminal."""

from collections.abc import Sequence

from ragstone.experiments.answers import AnsweringCost
from ragstone.experiments.languages import ALL, OWN, LanguageCell, LanguageVerdict
from ragstone.report.study import StudySummary
from ragstone.report.wording import count, interval, number, plural, usd


def retrievers(study: StudySummary) -> list[str]:
    """Return the retrievers that were measured, in order."""
    return list(dict.fromkeys(cell.retriever for cell in study.cells))


def indexes(study: StudySummary) -> list[str]:
    """Return the indexes, in order: each language, then all."""
    return list(dict.fromkeys(cell.index for cell in study.cells))


def cell_of(study: StudySummary, retriever: str, lang: str, index: str) -> LanguageCell:
    """Return the cell of a matrix."""
    return next(
        cell for cell in study.cells if (cell.retriever, cell.lang, cell.index) == (retriever, lang, index)
    )


def asked(study: StudySummary) -> list[str]:
    """Return the languages of questions of which any was measured, in order."""
    return list(dict.fromkeys(cell.lang for cell in study.cells if cell.n_questions))


def measures(study: StudySummary) -> list[str]:
    """Return the measures of the cells, in order."""
    return list(dict.fromkeys(name for cell in study.cells for name in cell.measures))


def difference(verdict: LanguageVerdict) -> str:
    """Return how much better all languages together are, with the interval."""
    there = verdict.comparison.difference
    sign = "+" if there.value > 0 else ""
    return f"{sign}{number(there.value)}" + (f" ({interval(there)})" if there.low is not None else "")


def probability(verdict: LanguageVerdict) -> str:
    """Return the corrected p-value."""
    p = verdict.comparison.p_holm
    return "below 0.001" if p < 0.001 else f"{p:.3f}"


def answers_of(verdicts: Sequence[LanguageVerdict], what: str) -> list[str]:
    """Return what verdicts say on whether translations help, one sentence a retriever."""
    said = []
    for retriever in dict.fromkeys(one.retriever for one in verdicts):
        mine = [one for one in verdicts if one.retriever == retriever]
        overall = next((one for one in mine if one.lang == ALL), mine[0])
        single = [one for one in mine if one.lang != ALL] if len(mine) > 1 else []
        verdict = overall.comparison.verdict
        word = {"better": "better", "worse": "worse", "cannot tell": "not distinguishable"}[verdict]
        beside = [
            f"{name} in {', '.join(langs)}"
            for name in ("better", "worse", "cannot tell")
            if (langs := [one.lang for one in single if one.comparison.verdict == name])
        ]
        if len(beside) == 1:
            beside = ["the same in each language"] if single[0].comparison.verdict == verdict else beside
        said.append(
            f"{retriever}: with all languages in one index {what} is {word} "
            f"({number(overall.together.value)}, own language alone {number(overall.own.value)}; "
            f"{plural(overall.comparison.n, 'question')})" + "".join(f"; {part}" for part in beside) + "."
        )
    return said


def family(verdicts: Sequence[LanguageVerdict]) -> str:
    """Return what the verdicts rest on."""
    if not verdicts:
        return ""
    tests = " and ".join(dict.fromkeys(one.comparison.test for one in verdicts))
    return (
        f"Paired on the same questions ({tests} test); Holm's correction over "
        f"{plural(len(verdicts), 'comparison')}."
    )


def cost_told(cost: AnsweringCost) -> str:
    """Return how many answers, and what they cost."""
    beside = [
        f"{count(cost.n_unscored)} not scored" if cost.n_unscored else "",
        f"{count(cost.n_neither)} say neither true nor false" if cost.n_neither else "",
        "cost unknown" if cost.usd is None else usd(cost.usd),
    ]
    return f"{plural(cost.n_answers, 'answer')}, {', '.join(part for part in beside if part)}"


def heat(value: float) -> int:
    """Return how warm a cell of a matrix is drawn, from 0 to 5."""
    return min(5, max(0, int(value * 6)))


def all_name() -> str:
    """Return what the index of all languages is called."""
    return ALL


def own_name() -> str:
    """Return what the index of the question's language is called."""
    return OWN
