"""`ragstone judges develop`: a draft against the version before, on labels; freezing; the test part."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Model, QuestionsFile
from ragstone.kernel.console.printing import say, show_found

if TYPE_CHECKING:
    from ragstone.features.improve.develop import DevelopmentRun
    from ragstone.features.improve.values import Scale


Draft = Annotated[Path, typer.Argument(help="The judge's file: the draft, as it is now.")]
LabelsFile = Annotated[Path, typer.Option("--labels", help="People's labels: question_id, system, score.")]
AnswersFile = Annotated[
    Path | None, typer.Option("--answers", help="The labelled answers, if the labels file has no texts.")
]
Against = Annotated[
    str | None, typer.Option("--against", help="Judge to compare with; default: the last frozen version.")
]
Threshold = Annotated[
    float | None,
    typer.Option("--threshold", help="Scores at or above this count as 1, for labels of 0 and 1."),
]
Mapping = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="LABEL=SCORE, e.g. good=1,bad=0 or 1=0,5=100: what labels stand for; between two lies the rest.",
    ),
]
Freeze = Annotated[
    str | None,
    typer.Option("--freeze", help="Freeze the draft as the next version; TEXT says what changed."),
]
Test = Annotated[
    bool, typer.Option("--test", help="Judge the test part instead of dev; each such look is counted.")
]


@reads_rows
@asks_models("trust", "whole", without=("deadline", "force", "strict"))
def develop(
    judge: Draft,
    *,
    labels: LabelsFile,
    answers: AnswersFile = None,
    questions: QuestionsFile = None,
    against: Against = None,
    threshold: Threshold = None,
    mapping: Mapping = None,
    freeze: Freeze = None,
    test: Test = False,
    model: Model = None,
    asking: Asking,
) -> None:
    """Try a draft of a judge on labelled answers: which verdicts changed, and did agreement improve?

    The first use splits the questions permanently. Drafts run on the dev part. The test part stays hidden
    until --test, which shows the judge's report card there. Every such look is counted and reported.

    Examples:

    - `ragstone judges develop tone.toml --labels labels.jsonl --answers answers.jsonl`
    - `ragstone judges develop tone.toml --labels labels.jsonl --answers answers.jsonl --freeze "a new scale"`
    """
    from ragstone.features.agree import card_document
    from ragstone.features.improve.develop import DevelopmentRun, forecast_run, take_look
    from ragstone.kernel.errors import ConfigError

    if test and (freeze is not None or against is not None):
        raise ConfigError("--test measures the judge as it is: leave out --freeze and --against.")
    run = DevelopmentRun(
        judge=judge,
        labels=labels,
        answers=answers,
        questions=questions,
        against=against,
        scale=score_scale(threshold, mapping),
        how=asking.session,
        settings=asking.settings(judge={"model": model}),
    )
    asking.tell_forecast(lambda: forecast_run(run, test=test))
    if test:
        look = take_look(run)
        show_found(look, lambda: card_document(look.card), json=asking.json, whole=asking.whole)
        say(look.card.notes[0])
        return
    _run(run, judge, freeze, asking)


def _run(run: "DevelopmentRun", judge: Path, freeze: str | None, asking: Asking) -> None:
    """Run the draft, tell, and freeze it where that is asked for and the budget has sufficed."""
    from ragstone.features.improve._develop_words import development_document
    from ragstone.features.improve.develop import freeze_judge, run_draft

    development = run_draft(run)
    show_found(development, lambda: development_document(development), json=asking.json, whole=asking.whole)
    if development.after.statuses.get("over_budget") and freeze is not None:
        say("Nothing was frozen: the draft has not judged every row. Run it again with a larger --budget.")
    leave(development.after.statuses, None, strict=False)
    if freeze is not None:
        frozen = freeze_judge(judge, freeze, development=development, settings=run.settings)
        say(f"Frozen: {frozen.path} is now version {frozen.version}, kept as {frozen.kept}.")


def score_scale(threshold: float | None, mapping: list[str] | None) -> "Scale":
    """Return how labels meet scores, by the options --threshold and --map. Raises ConfigError."""
    from ragstone.features.improve.values import Scale
    from ragstone.kernel.agreement.mapping import read_mapping

    words, numbers = read_mapping(mapping or ())
    return Scale(threshold=threshold, mapping=numbers, words=words)
