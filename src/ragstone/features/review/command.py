"""`ragstone review`: questions and the log of their review -> the reviewed set and its certificate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, Config, Force, Whole
from ragstone.kernel.console.printing import UNSCORED, say, show, show_documents, show_json

if TYPE_CHECKING:
    from ragstone.features.review.reviewing import ReviewedSet


@reads_rows
def review(
    questions: Annotated[Path, typer.Argument(help="The evaluation set that was reviewed.")],
    *,
    decisions: Annotated[
        Path | None,
        typer.Option("--decisions", help="The log of decisions; default: NAME.review.jsonl beside the set."),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            "--documents", help="Documents in which evidence is looked up; default: those beside the set."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The file to write; default: the same name in reviewed/ beside the set."
        ),
    ] = None,
    only_decided: Annotated[
        bool, typer.Option("--only-decided", help="Leave out questions that nobody has decided on.")
    ] = False,
    config: Config = None,
    force: Force = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 5 if some questions need another look.")
    ] = False,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Apply people's decisions from the workbench, and update the certificate.

    Examples:

    - `ragstone review questions/questions.jsonl`
    - `ragstone review questions/questions.jsonl --only-decided -o reviewed`
    """
    from ragstone.features.review.reviewing import review_questions
    from ragstone.kernel.config import load_settings

    output = output or questions.parent / "reviewed" / questions.name
    made = review_questions(
        questions,
        decisions,
        output=output,
        documents=documents,
        only_decided=only_decided,
        settings=load_settings(config),
        force=force,
    )
    _show_review(made, output, json=json, whole=whole)
    if strict and made.numbers.n_look:
        raise typer.Exit(UNSCORED)


def _show_review(made: "ReviewedSet", output: Path, *, json: bool, whole: bool) -> None:
    from ragstone.features.build import certificate_document, review_sentences
    from ragstone.kernel.errors import plural

    if json:
        files = [str(path) for path in made.files]
        from ragstone.features.review.reviewing import ReviewOutput

        show_json(ReviewOutput(review=made.numbers, certificate=made.certificate, files=files))
    elif made.certificate is not None:
        show_documents(certificate_document(made.certificate), whole=whole)
    else:
        show(*review_sentences(made.numbers))
        say("This set has no certificate, so none was updated.")
    if made.documents is None:
        say("No documents were found, so evidence is unchanged. Name them with --documents.")
    for item in [item for item in made.items if item.look][:10]:
        say(f"look again at {item.question.id}: {item.look}.")
    say(
        f"{plural(len(made.questions), 'question')} in {output}; all questions, the rejected ones too, are "
        "in the same folder."
    )
