"""What several runs side by side may say of their judges: each sentence with its condition."""

from collections.abc import Iterator

from ragstone.features.compare.values import SeveralMeans
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.numbers import count
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.wording import judge_name
from ragstone.kernel.sentences import Sentence

MOST_NAMED = 3  # columns with the same judge; of more, their number


def _ways(means: SeveralMeans) -> dict[str, list[str]]:
    """Return each way in which the judge was asked, and the columns with it.

    The way decides whether two of its means have one meaning.
    """
    ways: dict[str, list[str]] = {}
    for column, mean in means.means.items():
        model = "no model" if mean.model == NO_MODEL else mean.model
        scale = scale_text(*mean.scale) if mean.scale else "no stated scale"
        ways.setdefault(f"{model}, version {mean.prompt_version}, {scale}", []).append(column)
    return ways


def _named(means: SeveralMeans) -> Iterator[str]:
    for judged_how, columns in _ways(means).items():
        named = ", ".join(columns) if len(columns) <= MOST_NAMED else f"{count(len(columns))} columns"
        yield f"{judged_how} in {named}"


JUDGED_UNLIKE = Sentence[SeveralMeans](
    code="several-judged-unlike",
    text=(
        "{judge} is not the same judge in all columns ({ways}), so the means may differ because of the "
        "judge alone."
    ),
    when="a judge asked another model, has another version of its prompt or another scale in some columns",
    holds=lambda means: len(_ways(means)) > 1,
    needs={
        "judge": "judge, with its metric",
        "ways": "model, version and scale, and the columns that have them",
    },
    fills=lambda means: {
        "judge": judge_name(next(iter(means.means.values()))),
        "ways": "; ".join(_named(means)),
    },
)
OTHER_QUESTIONS = Sentence[SeveralMeans](
    code="several-other-questions",
    text=(
        "The columns do not have the same questions (all of them have {shared} of {questions}), so the "
        "means may differ because of the questions alone."
    ),
    when="a question is missing in a column, or has another text or reference there than in another",
    holds=lambda means: means.n_shared < means.n_questions,
    needs={
        "shared": "questions that all columns have, with one text and reference",
        "questions": "questions that any column has",
    },
    fills=lambda means: {"shared": count(means.n_shared), "questions": count(means.n_questions)},
)
SENTENCES = (JUDGED_UNLIKE, OTHER_QUESTIONS)
