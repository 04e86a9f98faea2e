"""`ragstone attack`: can the text that is judged set its own verdict, and what else moves the judge?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Limit, Model, SeedOfRun
from ragstone.kernel.console.printing import CANNOT_TELL, FAILED_GATE, say, show_found

if TYPE_CHECKING:
    from ragstone.features.attack.words import AttackSummary


Judges = Annotated[
    list[str] | None, typer.Option("--judge", help="Judge: a name or a .toml file; may be repeated.")
]
Sheet = Annotated[
    Path | None,
    typer.Option("--sheet", help="An answer sheet to attack, instead of the rows that ship."),
]
Families = Annotated[
    list[str] | None, typer.Option("--family", help="Only attacks of this family; may be repeated.")
]
Probes = Annotated[
    list[str] | None, typer.Option("--probe", help="Only this probe of bias; may be repeated.")
]
Each = Annotated[int | None, typer.Option("--each", min=1, help="Number of attacks per row; default: all.")]
GATE_HELP = "Gate: exit with 1 if more than this share of attacks flips the verdict, e.g. 0.05."
MostFlips = Annotated[float | None, typer.Option("--most-flips", min=0, max=1, help=GATE_HELP)]
Folder = Annotated[
    Path | None, typer.Option("-o", "--output", help="The folder to write; default: attack/JUDGE.")
]


LONGEST_NAME = 100  # of a folder; file systems take 255


@reads_rows
@asks_models("trust", "whole")
def attack(
    *,
    judges: Judges = None,
    model: Model = None,
    sheet: Sheet = None,
    family: Families = None,
    probe: Probes = None,
    limit: Limit = None,
    each: Each = None,
    most_flips: MostFlips = None,
    output: Folder = None,
    seed: SeedOfRun = None,
    asking: Asking,
) -> None:
    """Test judges with answers that try to set their own verdict, and probe them for bias.

    Exit code 3: nothing could be measured for a judge, or the gate cannot tell.

    Examples:

    - `ragstone attack --judge correctness --model openai/gpt-4o-mini`
    - `ragstone attack --judge my-judge.toml --sheet answers.jsonl --most-flips 0.05`
    """
    from ragstone.features.attack.attacking import JUDGED, forecast_attack, plan_attack, run_attack
    from ragstone.features.attack.words import attack_document
    from ragstone.kernel.judging.variant import load_judges

    settings = asking.settings(judge={"model": model}, run={"seed": seed})
    chosen = load_judges(judges or map(settings.named, settings.judge.judges))
    output = output or Path("attack") / "+".join(judge.name for judge in chosen)[:LONGEST_NAME]
    plan = plan_attack(
        chosen, sheet=sheet, families=family, probes=probe, limit=limit, each=each, most_flips=most_flips
    )
    asking.tell_forecast(lambda: forecast_attack(chosen, settings, plan), output / JUDGED)
    summary = run_attack(chosen, plan, settings, output=output, how=asking.session, force=asking.force)
    show_found(summary, lambda: attack_document(summary), json=asking.json, whole=asking.whole)
    say(f"Page: {output / 'attack.html'}")
    _leave(summary, strict=asking.strict)


def _leave(summary: "AttackSummary", *, strict: bool) -> None:
    """Exit as budget, plain rows and gate demand. An attacked row without a score is no failure."""
    plain = [status for judge in summary.judges for status in judge.plain]
    leave([*cut_off(summary.calls), *plain], summary.calls, strict=strict)
    gates = {judge.gate for judge in summary.judges}
    if "exceeded" in gates:
        raise typer.Exit(FAILED_GATE)
    if "cannot tell" in gates or not all(judge.measured for judge in summary.judges):
        raise typer.Exit(CANNOT_TELL)
