"""`ragstone judges learn`: people's labels + a judge -> what makes it better, measured."""

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.features.improve.develop_command import AnswersFile, LabelsFile, Mapping, Threshold, score_scale
from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Model, QuestionsFile
from ragstone.kernel.console.printing import say, show_found

if TYPE_CHECKING:
    from ragstone.features.improve.learned import Learning

Judges = Annotated[
    list[str],
    typer.Argument(
        help="The judge to improve, a .toml file or a name; then others that may help, as 'NAME by MODEL'."
    ),
]
Ways = Annotated[
    list[str] | None,
    typer.Option(
        "--try", help="calibration, stack, cascade, examples or prompt; may be repeated; default: all."
    ),
]
YesFrom = Annotated[
    float | None,
    typer.Option("--yes-from", help="For labels that are grades: those at or above this count as yes."),
]
Proposer = Annotated[
    str | None, typer.Option("--proposer", help="Model that proposes prompts; default: the judge's own.")
]


@reads_rows
@asks_models("trust", "whole", without=("deadline", "force", "strict"))
def learn(
    judges: Judges,
    *,
    labels: LabelsFile,
    answers: AnswersFile = None,
    questions: QuestionsFile = None,
    ways: Ways = None,
    yes_from: YesFrom = None,
    threshold: Threshold = None,
    mapping: Mapping = None,
    proposer: Proposer = None,
    model: Model = None,
    asking: Asking,
) -> None:
    """Improve a judge with people's labels: calibrate, stack, cascade, add examples, reword.

    Each candidate is measured on questions of the dev part that it was not fitted on. The best one is
    measured once on the test part, and that look is counted. Only if it is better there is the next version
    of the judge's file written, with what was tried. "No better: keep the judge you have" is an answer.

    Examples:

    - `ragstone judges learn tone.toml --labels labels.jsonl --answers answers.jsonl --budget 2000calls`
    - `ragstone judges learn tone.toml --labels labels.jsonl --answers answers.jsonl --try stack`
    """
    from ragstone.features.improve.develop import DevelopmentRun
    from ragstone.features.improve.learn import (
        LearningRun,
        forecast_learning,
        run_learning,
        task_of_run,
    )

    first, *others = judges
    run = LearningRun(
        development=DevelopmentRun(
            judge=first,
            labels=labels,
            answers=answers,
            questions=questions,
            scale=score_scale(threshold, mapping),
            how=asking.session,
            settings=asking.settings(judge={"model": model}),
        ),
        helpers=others,
        methods=ways or (),
        yes_from=yes_from,
        proposer=proposer,
    )
    asking.tell_forecast(lambda: forecast_learning(task_of_run(run), run.development.settings))
    _tell(run_learning(run), asking)


def _tell(learning: "Learning", asking: Asking) -> None:
    from ragstone.features.improve._learn_words import learning_document

    show_found(learning, lambda: learning_document(learning), json=asking.json, whole=asking.whole)
    if learning.new_version is not None:
        path = learning.version_path
        say(f"{path} is now version {learning.new_version}. Use it: --judge {path}")
    leave(["over_budget"] if learning.verdict == "over budget" else [], None, strict=False)
