"""What stands around a command that asks a model: its options, its forecast before, its exit code after."""

import functools
import inspect
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import typer

from ragstone.kernel.console import options
from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.printing import (
    OVER_BUDGET,
    UNSCORED,
    WRONG_USE,
    on_terminal,
    say,
    show,
    show_json,
)
from ragstone.kernel.document.numbers import count, duration, usd
from ragstone.kernel.errors import plural
from ragstone.kernel.trust import trusting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ragstone.kernel.config import EngineKind, Settings
    from ragstone.kernel.engine.progress import Progress
    from ragstone.kernel.engine.session import SessionOptions
    from ragstone.kernel.llm import Caps
    from ragstone.kernel.llm.forecast import Forecast, ModelForecast
    from ragstone.kernel.records import Status
    from ragstone.kernel.runs.summary import Calls, RunSummary

# A forecast above one of these is confirmed on a terminal: US dollars, calls, and calls of unknown price.
MOST_USD = 1.0
MOST_CALLS = 1000
MOST_UNPRICED_CALLS = 100


class CallLimits(TypedDict):
    """How models are asked, as functions of the Python interface take it."""

    budget: str | None
    deadline: str | None
    offline: bool
    progress: "Progress"


class Asking(NamedTuple):
    """What a user says of how models are asked: the options that all commands share which ask one.

    A command that has not an option has its default here.
    """

    budget: str | None = None
    deadline: str | None = None
    forecast: bool = False
    yes: bool = False
    batch: bool = False
    offline: bool = False
    keep_failures: bool = False
    mask: bool = False
    engine: "EngineKind | None" = None
    config: "Path | None" = None
    force: bool = False
    strict: bool = False
    json: bool = False
    whole: bool = False
    trust: bool = False

    @property
    def caps(self) -> "Caps":
        """The most that may be spent. Raises ConfigError for what is no amount."""
        from ragstone.kernel.llm import parse_caps

        return parse_caps(self.budget, self.deadline)

    @property
    def session(self) -> "SessionOptions":
        """How a session asks models, with bars. Raises ConfigError for caps that are no amount."""
        from ragstone.kernel.engine.session import SessionOptions

        return SessionOptions(self.caps, self.offline, self.batch, bars)

    @property
    def limits(self) -> CallLimits:
        """The same for functions of the Python interface."""
        return {
            "budget": self.budget,
            "deadline": self.deadline,
            "offline": self.offline,
            "progress": bars,
        }

    def settings(self, **tables: "Mapping[str, object]") -> "Settings":
        """Return the settings of the file, in which stages run where and as the command says.

        tables: keys of one that the command gives, as choose takes them. Raises ConfigError, also for a
        budget that is no amount: before anything else is read.
        """
        from ragstone.kernel.config import choose, load_settings

        self.caps  # noqa: B018 - a mistake in them is told before anything is read
        settings = choose(load_settings(self.config), "engine", kind=self.engine)
        settings = choose(settings, "privacy", mask=self.mask or None)
        settings = choose(settings, "ledger", keep_failures=self.keep_failures or None)
        for table, keys in tables.items():
            settings = choose(settings, table, **keys)
        return settings

    def tell_forecast(
        self, forecast: "Callable[[], Forecast]", *outputs: "Path | str", free: bool = False
    ) -> None:
        """Show what will be asked, unless nobody is (offline, `free`), or `--yes` is given without a budget.

        outputs: files to be written, looked at first; a forecast that is only shown writes none. Raises
        DataError for one that exists, without --force.
        """
        from ragstone.kernel.tables import check_output

        if not self.forecast:
            for output in outputs:
                check_output(output, self.force)
        unheard = self.yes and self.budget is None  # nobody to ask, and no amount to compare it with
        if self.forecast or not (self.offline or free or unheard):
            heard = forecast()
            heard = heard.by_batch() if self.batch else heard
            tell_forecast(heard, only=self.forecast, yes=self.yes, json=self.json)


def load_for(config: "Path | None", engine: "EngineKind | None" = None) -> "Settings":
    """Return the settings of a file, in which stages run where the command says, if it says so."""
    return Asking(config=config, engine=engine).settings()


_OPTIONS: dict[str, Any] = {
    "budget": options.BudgetCap,
    "deadline": options.Deadline,
    "forecast": options.ForecastOnly,
    "yes": options.Yes,
    "batch": options.ByBatch,
    "offline": options.Offline,
    "keep_failures": options.KeepFailures,
    "mask": options.MaskToo,
    "engine": options.Engine,
    "config": options.Config,
    "force": options.Force,
    "strict": options.Strict,
    "json": options.AsJson,
    "whole": options.Whole,
    "trust": options.Trust,
}
_RARE = (
    "batch",
    "keep_failures",
    "mask",
    "engine",
    "whole",
    "trust",
)  # that a command has only if it says so


def asks_models(
    *more: str, without: Collection[str] = ()
) -> "Callable[[Callable[..., None]], Callable[..., None]]":
    """Give a command the options of Asking, which it is handed as one value, `asking`.

    more: those of _RARE that it has too. without: those of the others that it has not. They stand in the help
    where `asking` stands among the command's parameters, in the order of _OPTIONS.
    """
    names = [name for name in _OPTIONS if (name in more if name in _RARE else name not in without)]
    shared = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=Asking._field_defaults[name],
            annotation=_OPTIONS[name],
        )
        for name in names
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command)

        @functools.wraps(command)
        def called(**options_given: object) -> None:
            asking = Asking(**{name: options_given.pop(name) for name in names})  # type: ignore[arg-type]  # of typer
            with trusting(asking.trust):
                command(**options_given, asking=asking)

        before = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own.parameters.values()
        ]
        at = next(n for n, own_parameter in enumerate(before) if own_parameter.name == "asking")
        del called.__wrapped__  # whoever looks behind it would miss the options
        called.__signature__ = own.replace(parameters=[*before[:at], *shared, *before[at + 1 :]])  # type: ignore[attr-defined]
        called.__annotations__ = {
            **{name: note for name, note in command.__annotations__.items() if name != "asking"},
            **{name: _OPTIONS[name] for name in names},
        }
        return called

    return decorated


def tell_forecast(forecast: "Forecast", *, only: bool, yes: bool, json: bool) -> None:
    """Show what will be asked; on a terminal a large sum is confirmed, unless `yes`.

    Raises typer.Exit: with 0 where the forecast is `only` shown, on standard output; with 2 where the user
    says no.
    """
    if only:
        if json:
            show_json(forecast)
        else:
            show(*forecast_lines(forecast))
        raise typer.Exit
    if not forecast.models:  # baselines alone
        return
    for line in forecast_lines(forecast):
        say(line)
    if is_large(forecast) and not yes and on_terminal() and not _said_yes():
        say("ragstone: no model was called. --yes continues without asking, --budget caps the spending.")
        raise typer.Exit(WRONG_USE)


def forecast_lines(forecast: "Forecast") -> list[str]:
    """Return the forecast as lines: the sums, then each model's grounds, then what was assumed."""
    cached = f"{plural(forecast.from_ledger, 'call')} in the ledger"
    if not forecast.calls:
        return [f"Forecast: nothing to ask; {cached}."]
    beside = f" (and {cached})" if forecast.from_ledger else ""
    parts = [
        f"about {plural(forecast.calls, 'call')}{beside}",
        f"{count(forecast.input)} tokens in"
        + (f" ({count(forecast.cached)} cached)" if forecast.cached else ""),
        f"{count(forecast.output)} out"
        + (f" ({count(forecast.reasoning)} reasoning)" if forecast.reasoning else ""),
        "cost unknown" if forecast.cost_usd is None else usd(forecast.cost_usd),
        "time unknown" if forecast.duration_s is None else duration(forecast.duration_s),
    ]
    models = [line for model in forecast.models if model.calls for line in _grounds(model)]
    return [f"Forecast: {', '.join(parts)}.", *models, *(f"  {each}" for each in forecast.assumptions)]


def _grounds(model: "ModelForecast") -> list[str]:
    """Return what a model's share rests on: its price, and the calls that lengths are taken from.

    And what it may cost less where prompts of a row begin alike.
    """
    if model.cost_usd is None:
        price = "price unknown (set price_usd_per_million in its table of ragstone.toml)"
    elif model.list_price_read:
        price = f"list price read on {model.list_price_read}"
    else:
        price = "the price that is set"
    if model.n_earlier:
        grounds = f"lengths and times as in {plural(model.n_earlier, 'earlier call')}"
    else:
        grounds = "no earlier call in the ledger, so lengths are guessed (try --limit 5 first)"
    lines = [f"  {model.model}: {plural(model.calls, 'call')}, {price}; {grounds}."]
    if model.shared_usd is not None:
        lines.append(
            f"  {model.model}: about {count(model.shared)} input tokens repeat the beginning of another "
            "judge's prompt for the same row. Where the provider caches them, the cost is about "
            f"{usd(model.shared_usd)} less."
        )
    return lines


def is_large(forecast: "Forecast") -> bool:
    """Return whether so much is asked that a person should say yes to it first."""
    if forecast.calls > MOST_CALLS:
        return True
    if forecast.cost_usd is None:
        return forecast.calls > MOST_UNPRICED_CALLS
    return forecast.cost_usd > MOST_USD


def _said_yes() -> bool:
    try:
        return typer.confirm("Go on?", err=True)
    except typer.Abort:  # Ctrl-C, or the end of the input
        return False


def leave(
    statuses: Collection["Status"], calls: "Calls | None", *, strict: bool, lost: object = None
) -> None:
    """End a command as its rows demand. Raises typer.Exit with 4 or 5, and returns where all is well.

    lost: what else is not whole, if anything is.
    """
    if "over_budget" in statuses or (calls and calls.late):
        raise typer.Exit(OVER_BUDGET)
    if strict and (lost or set(statuses) - {"scored", "not_applicable"}):
        raise typer.Exit(UNSCORED)


def leave_judged(summary: "RunSummary", *, strict: bool) -> None:
    """End a command as its judgements demand. Raises typer.Exit as leave does, with 5 if none is scored."""
    statuses = {status for metric in summary.metrics for status in metric.statuses}
    leave(statuses, summary.calls, strict=strict)
    if statuses and "scored" not in statuses:
        raise typer.Exit(UNSCORED)


def cut_off(calls: "Calls | None") -> "list[Status]":
    """Return the status of calls that the budget did not allow, as rows would have it."""
    return ["over_budget"] if calls and calls.failed.get("over_budget") else []
