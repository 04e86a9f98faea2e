"""`ragstone attack`: can the text that is judged set its own verdict, and what else moves the judge?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.asking import cut_off, leave, tell_forecast
from ragstone.cli.bars import bars
from ragstone.cli.console import CANNOT_TELL, FAILED_GATE, say, show, show_json
from ragstone.cli.options import (
    AsJson,
    BudgetCap,
    Config,
    Deadline,
    Force,
    ForecastOnly,
    Limit,
    Model,
    Offline,
    SeedOfRun,
    Yes,
)

if TYPE_CHECKING:
    from ragstone.report.attack import AttackSummary


def attack(
    *,
    judges: Annotated[
        list[str] | None, typer.Option("--judge", help="Name, or a .toml file; may be repeated.")
    ] = None,
    model: Model = None,
    sheet: Annotated[
        Path | None,
        typer.Option("--sheet", help="An answer sheet to attack rows of, in place of those that ship."),
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option("--family", help="Attacks of this family only; may be repeated.")
    ] = None,
    probe: Annotated[
        list[str] | None, typer.Option("--probe", help="This probe of bias only; may be repeated.")
    ] = None,
    limit: Limit = None,
    each: Annotated[
        int | None, typer.Option("--each", min=1, help="So many attacks on a row, in turn; default: all.")
    ] = None,
    most_flips: Annotated[
        float | None,
        typer.Option(
            "--most-flips", min=0, max=1, help="Gate: exit with 1 if more of the attacks flip, e.g. 0.05."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write.")] = Path("attack"),
    seed: SeedOfRun = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    config: Config = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Attack judges with texts that try to set their own verdict, and probe what else moves them."""
    from ragstone.config import choose, load_settings
    from ragstone.engine.attacking import JUDGED, forecast_attack, plan_attack, run_attack
    from ragstone.engine.stages import load_judges
    from ragstone.llm import parse_caps
    from ragstone.report.attack_terminal import terminal_attack
    from ragstone.tables import check_output

    caps = parse_caps(budget, deadline)
    settings = choose(choose(load_settings(config), "judge", model=model), "run", seed=seed)
    chosen = load_judges(judges or map(settings.named, settings.judge.judges))
    plan = plan_attack(
        chosen,
        sheet=sheet,
        families=family,
        probes=probe,
        limit=limit,
        each=each,
        most_flips=most_flips,
    )
    if forecast or not offline:
        if not forecast:
            check_output(output / JUDGED, force)
        tell_forecast(forecast_attack(chosen, settings, plan), only=forecast, yes=yes, json=json)
    summary = run_attack(
        chosen, plan, settings, output=output, caps=caps, offline=offline, force=force, progress=bars
    )
    if json:
        show_json(summary)
    else:
        show(terminal_attack(summary))
    say(f"Page: {output / 'attack.html'}")
    _leave(summary)


def _leave(summary: "AttackSummary") -> None:
    """Exit as budget and gate demand."""
    leave(cut_off(summary.calls), summary.calls, strict=False)
    gates = {one.gate for one in summary.judges}
    if "exceeded" in gates:
        raise typer.Exit(FAILED_GATE)
    if "cannot tell" in gates:
        raise typer.Exit(CANNOT_TELL)
