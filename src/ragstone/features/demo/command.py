"""`ragstone demo`: the whole pipeline on shipped data."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from ragstone.kernel.console.asking import Asking
from ragstone.kernel.console.extras import EXTRAS
from ragstone.kernel.console.options import AsJson, BudgetCap, Limit, Model, Offline, Whole, Yes
from ragstone.kernel.console.printing import say

if TYPE_CHECKING:
    from ragstone.kernel.config import Settings
    from ragstone.kernel.llm.forecast import Forecast

# Questions that are answered with a model; one that runs on the user's processor and is not the tiny packaged
# one takes about 45 s for each, all judges counted (1.5B parameters, two cores).
MANY, FEW = 10, 3


def demo(
    folder: Annotated[Path, typer.Argument(help="Folder for the demo's files.")] = Path("ragstone-demo"),
    *,
    model: Model = None,
    limit: Limit = None,
    yes: Yes = False,
    budget: BudgetCap = None,
    offline: Offline = False,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Chunk, retrieve, answer, judge and report on a sample of agricultural extension texts.

    It quotes answers from the texts and judges them by comparing words: no key, no network. Then a small
    language model judges a few labelled answers, and a report card shows how far to trust it. With --model,
    or a configured endpoint if you allow it, a model answers and judges everything. A second run calls no
    model and gives the same numbers.

    Examples:

    - `ragstone demo`
    - `ragstone demo my-demo --model openai/gpt-4o-mini`
    """
    from ragstone.features.demo._example import quoting
    from ragstone.features.demo._small_judge import LINES_OF_RUN, show_small_judge
    from ragstone.features.new import copy_starter, endpoint_model
    from ragstone.features.run import run_and_show
    from ragstone.kernel.config import choose, load_settings

    asking = Asking(budget=budget, offline=offline, yes=True, force=True, json=json, whole=whole)
    file = folder / "ragstone.toml"
    if not file.exists():
        copy_starter(folder, model)
    settings = choose(load_settings(file), "answer", limit=limit)
    chosen = model or _agreed(endpoint_model(), settings, limit, yes=yes or offline)
    if chosen:
        settings = _asking(settings, chosen, limit)
        asking.tell_forecast(lambda: _forecast(settings))
    else:
        say("No model is asked: answers are quoted from the documents, and words are compared.")
        settings = quoting(settings)
    is_followed = not (chosen or offline or json)
    run_and_show(settings, asking, lines=LINES_OF_RUN if is_followed else None)
    if is_followed:
        show_small_judge(settings, whole=whole)
    if not json:
        for line in ("Next:", *_next_commands(folder)):
            say(line)


def _agreed(endpoint: str | None, settings: "Settings", limit: int | None, *, yes: bool) -> str | None:
    """Return the model of the configured endpoint if its user says that it may be asked, else None."""
    from ragstone.kernel.console.asking import forecast_lines

    if endpoint is None or yes:
        return endpoint
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(
            "An endpoint is configured, but there is no terminal to confirm that it may be asked: --yes "
            f"asks {endpoint}."
        )
        return None
    for line in forecast_lines(_forecast(_asking(settings, endpoint, limit))):
        say(line)
    try:
        return endpoint if typer.confirm(f"Ask {endpoint}?", err=True) else None
    except typer.Abort:  # the end of the input
        return None


def _forecast(settings: "Settings") -> "Forecast":
    from ragstone.features.run import forecast_run

    return forecast_run(settings)


def _asking(settings: "Settings", model: str, limit: int | None) -> "Settings":
    """Return the settings in which a model answers and judges."""
    from ragstone.features.new import PACKAGED
    from ragstone.kernel.config import JudgeSection

    slow = model.startswith("llamacpp/") and model != PACKAGED
    if slow and limit is None:
        say(f"It runs on your own processor, so {FEW} questions are answered; --limit changes that.")
    answer = msgspec.structs.replace(
        settings.answer, model=model, system=None, limit=limit or (FEW if slow else MANY)
    )
    judge = msgspec.structs.replace(settings.judge, model=model, judges=JudgeSection().judges)
    return msgspec.structs.replace(settings, answer=answer, judge=judge)


def _next_commands(folder: Path) -> list[str]:
    """Return three commands to go on with, each as it can be pasted."""
    program = shlex.quote(sys.argv[0]) if Path(sys.argv[0]).name == "ragstone" else "ragstone"
    config = f"--config {shlex.quote(str(folder / 'ragstone.toml'))}"
    question = "Which months are vulnerable for nitrate leaching in irrigated fields?"
    missing = "; first: pip install 'ragstone[serve]'" if EXTRAS["serve"].missing else ""
    return [
        f"{program} serve {config}    # read, compare and label the answers in a browser{missing}",
        f'{program} ask "{question}" --system extractive {config}',
        f"{program} new my-evaluation    # a folder to start from, with your documents: --documents FOLDER",
    ]
