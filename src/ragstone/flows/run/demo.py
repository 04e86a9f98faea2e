"""`ragstone demo`: the whole pipeline on shipped data."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.console.options import AsJson, BudgetCap, Limit, Model, Offline
from ragstone.console.printing import say

# Questions to answer with a model that runs on the user's processor and is not the tiny packaged one: it
# takes about 45 s for each, all judges counted (1.5B parameters, two cores).
FEW = 3


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the demo's files go.")] = Path("ragstone-demo"),
    *,
    model: Model = None,
    limit: Limit = None,
    budget: BudgetCap = None,
    offline: Offline = False,
    json: AsJson = False,
) -> None:
    """Chunk, retrieve, answer, judge and report on a sample of agricultural extension texts.

    Without --model it takes a configured endpoint, else the largest model in the cache, else the packaged
    SmolLM2, which needs no key and no network. Run again, it calls no model and gives the same numbers.
    """
    from ragstone.config import choose, load_settings
    from ragstone.console.asking import Asking
    from ragstone.console.default_model import PACKAGED, choose_model
    from ragstone.console.starter import copy_starter
    from ragstone.flows.run.command import run_and_show
    from ragstone.flows.run.forecast import forecast_run

    chosen, why = (model, "--model") if model else choose_model()
    say(f"Model: {chosen} ({why}).")
    if limit is None and chosen.startswith("llamacpp/") and chosen != PACKAGED:
        limit = FEW
        say(f"It runs on your own processor, so {FEW} questions are answered; --limit changes that.")
    file = folder / "ragstone.toml"
    if not file.exists():
        copy_starter(folder, chosen)
    settings = choose(load_settings(file), "answer", model=chosen, limit=limit)
    settings = choose(settings, "judge", model=chosen)
    asking = Asking(budget=budget, offline=offline, yes=True, force=True, json=json)
    asking.tell_forecast(lambda: forecast_run(settings))
    run_and_show(settings, asking)
