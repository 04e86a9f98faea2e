"""`ragstone judges fit`: judgements of two judges + people's labels -> a cascade of the two."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, Force, Output, Seed, Whole
from ragstone.kernel.console.printing import say, show_found

Share = Annotated[
    float,
    typer.Option("--test-share", min=0, max=1, help="Share of the questions to hold out for measuring."),
]
Dear = Annotated[
    str | None,
    typer.Option(
        "--dear",
        help="The expensive judge, asked where the cheap one is unsure; default: the other one.",
    ),
]
LeastAgreement = Annotated[
    float,
    typer.Option(
        "--agreement", help="Lowest agreement with people that the cheap judge's own decisions may have."
    ),
]


@reads_rows
def fit(
    judgements: Annotated[Path, typer.Argument(help="Judgements of the labelled answers by both judges.")],
    labels: Annotated[Path, typer.Argument(help="People's labels: question_id, system, score.")],
    *,
    cheap: Annotated[
        str, typer.Option("--cheap", help="The cheap judge, which is asked first: a name or a .toml file.")
    ],
    dear: Dear = None,
    agreement: LeastAgreement = 0.95,
    yes_from: Annotated[
        float | None,
        typer.Option("--yes-from", help="Labels at or above this count as yes; default: 1 is yes, 0 is no."),
    ] = None,
    test_share: Share = 0.0,
    output: Output = Path("cascade.toml"),
    seed: Seed = 0,
    force: Force = False,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Fit a cascade: which scores of a cheap judge to trust, and which to pass to an expensive one.

    Examples:

    - `ragstone judges fit runs/answers labels.jsonl --cheap coverage`
    - `ragstone judges fit judgements.jsonl labels.jsonl --cheap coverage --dear correctness --agreement 0.9`
    """

    from ragstone.features.improve._fit_words import fit_document
    from ragstone.features.improve.fit import FitOutput, check_cascade_file, fit_cascade, write_cascade
    from ragstone.kernel.records import Judgement, Label
    from ragstone.kernel.stages.given import judgements_of
    from ragstone.kernel.tables import read_rows

    check_cascade_file(output, force)
    fitted = fit_cascade(
        read_rows(judgements_of(judgements), Judgement),
        read_rows(labels, Label),
        cheap=cheap,
        dear=dear,
        agreement=agreement,
        yes_from=yes_from,
        test_share=test_share,
        name=output.stem,
        seed=seed,
    )
    write_cascade(fitted, output)
    show_found(
        FitOutput(
            judge=fitted.judge.every_key(),
            **{name: getattr(fitted, name) for name in fitted.__struct_fields__[1:]},
        ),
        lambda: fit_document(fitted),
        json=json,
        whole=whole,
    )
    say(f"Cascade in {output}. Use it: ragstone judge SHEET --judge {quote(str(output))}")
