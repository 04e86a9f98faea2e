"""`ragstone ledger`: what the ledger holds, cost and saved; export, import, prune."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import load_for
from ragstone.kernel.console.options import AsJson, Config, Force
from ragstone.kernel.console.printing import WRONG_USE, on_terminal, say, show, show_json, told_plainly
from ragstone.kernel.errors import ConfigError, plural

if TYPE_CHECKING:
    from rich.table import Table

    from ragstone.features.ledger._account import Account, AccountLine
    from ragstone.features.ledger._archive import Chosen
    from ragstone.kernel.llm.ledgers import LedgerLocation

SHOWN_DAYS = 14
HOURS = {"h": 1, "d": 24, "w": 7 * 24}

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking first.")]
OlderThan = Annotated[
    str | None, typer.Option("--older-than", help="Age: 30d, 12h or 8w for days, hours or weeks.")
]
OfModel = Annotated[
    str | None, typer.Option("--model", help="Only this model's, as `ragstone ledger` names it.")
]

ledger = typer.Typer(
    name="ledger",
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The stored model responses: what they cost and saved; export, import, prune.",
)


def show_account(*, config: Config = None, json: AsJson = False) -> None:
    """Show the ledger's size, and the calls, tokens and money spent and saved, by model and by day (UTC).

    Examples:

    - `ragstone ledger show --json`
    """
    from ragstone.features.ledger._account import read_account
    from ragstone.kernel.llm.ledgers import ledger_place

    settings = load_for(config)
    account = read_account(ledger_place(settings), settings)
    if json:
        show_json(account)
    else:
        _show_tables(account)


def export(
    file: Annotated[Path, typer.Argument(help="The .jsonl file to write.")],
    *,
    config: Config = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Write every response to a JSONL file, one per line, sorted by key.

    Examples:

    - `ragstone ledger export backup.jsonl`
    """
    from ragstone.features.ledger._archive import ExportOutput, export_responses
    from ragstone.kernel.llm.ledgers import ledger_place

    done = export_responses(ledger_place(load_for(config)), file, force=force)
    if json:
        show_json(ExportOutput(file=str(file), responses=done.responses, damaged=done.damaged))
    say(f"{plural(done.responses, 'response')} in {file}.{_damage_text(done.damaged)}")


def import_(
    files: Annotated[list[Path], typer.Argument(help="Files that `ragstone ledger export` wrote.")],
    *,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Add the responses of exported files. Existing responses stay; a bad file adds nothing.

    Examples:

    - `ragstone ledger import backup.jsonl other.jsonl`
    """
    from ragstone.features.ledger._archive import ImportOutput, import_responses
    from ragstone.kernel.errors import DataError
    from ragstone.kernel.llm.ledgers import ledger_place

    location = ledger_place(load_for(config))
    done, mistakes = [], []
    for file in files:
        try:
            done.append(import_responses(location, file))
        except DataError as mistake:
            mistakes.append(str(mistake))
        else:
            say(f"{file}: {done[-1].new:,} new, {done[-1].known:,} known.")
    if json:
        new, known = sum(f.new for f in done), sum(f.known for f in done)
        show_json(ImportOutput(files=done, new=new, known=known))
    if mistakes:
        raise DataError("\n".join(mistakes))


def prune(
    *,
    older_than: OlderThan = None,
    model: OfModel = None,
    yes: Yes = False,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Delete responses by age, model or both, after showing what asking them again would cost.

    Examples:

    - `ragstone ledger prune --older-than 90d`
    - `ragstone ledger prune --model openai/gpt-4o-mini`
    """
    from ragstone.features.ledger._archive import Pruned, choose_responses, prune_responses
    from ragstone.kernel.llm.ledgers import ledger_place

    if older_than is None and model is None:
        raise ConfigError("say what to prune: --older-than 30d, --model NAME, or both.")
    settings = load_for(config)
    location = ledger_place(settings)
    older_than_s = None if older_than is None else _seconds(older_than)
    chosen = choose_responses(location, settings, older_than_s=older_than_s, model=model)
    say(_pruning_text(location, chosen))
    some = bool(chosen.responses or chosen.damaged)
    if some and not (yes or _confirmed()):
        say("Nothing was deleted.")
        raise typer.Exit(WRONG_USE)
    pruned = prune_responses(location, chosen) if some else Pruned(0, 0)
    if json:
        show_json(pruned)
    smaller = f"; the ledger is {_size(pruned.n_bytes_freed)} smaller" if pruned.n_bytes_freed else ""
    say(
        f"Deleted {plural(pruned.responses, 'response')}{smaller}."
        if pruned.responses
        else "Nothing was deleted."
    )


ledger.command("show")(told_plainly(show_account))
ledger.command("export")(told_plainly(export))
ledger.command("import")(told_plainly(import_))
ledger.command("prune")(told_plainly(prune))


@ledger.callback(invoke_without_command=True)
@told_plainly
def show_by_default(context: typer.Context, *, config: Config = None, json: AsJson = False) -> None:
    """The stored model responses: what they cost and saved; export, import, prune."""
    if context.invoked_subcommand is None:
        show_account(config=config, json=json)
    elif config is not None or json:
        name = context.invoked_subcommand
        raise ConfigError(f"write --config and --json after the command: ragstone ledger {name} ...")


def _seconds(age: str) -> float:
    match = re.fullmatch(r"(\d{1,6})([hdw])", age.strip().casefold())
    if not match:
        raise ConfigError(f"--older-than {age!r}: give a number with a unit, e.g. 30d, 12h or 8w.")
    return int(match[1]) * HOURS[match[2]] * 3600.0


def _confirmed() -> bool:
    """Return whether the user says yes. Raises ConfigError where there is nobody to ask."""
    if not on_terminal():
        raise ConfigError(
            "nothing was deleted: there is no terminal to ask on. To delete without being asked, add --yes."
        )
    # Not typer.confirm: it writes a space to standard output, which --json keeps for its document.
    sys.stderr.write("Delete them? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _pruning_text(location: "LedgerLocation", chosen: "Chosen") -> str:
    n = sum(chosen.responses.values())
    if not n and not chosen.damaged:
        return f"{location}: it has no such response."
    models = ", ".join(f"{count:,} of {model}" for model, count in sorted(chosen.responses.items()))
    unknown = chosen.cost_usd is None
    cost = "an unknown amount: a price is unknown" if unknown else f"{_usd(chosen.cost_usd)} USD"
    return (
        f"{location}: {plural(n, 'response')} to delete ({models}). Asking them again would cost "
        f"{cost}.{_damage_text(chosen.damaged)}"
    )


def _damage_text(n: int) -> str:
    return f" {n:,} more cannot be read: their stored content has changed." if n else ""


def _show_tables(account: "Account") -> None:
    damaged = f", {account.damaged:,} more that cannot be read" if account.damaged else ""
    show(f"{account.path}: {plural(account.responses, 'response')}{damaged}, {_size(account.n_bytes)}")
    if not account.lines:
        return
    show("", _table("model", [(line.model or "", line) for line in account.models], account.total))
    days = account.days[-SHOWN_DAYS:]
    show("", _table("day (UTC)", [(str(line.day), line) for line in days], None), "")
    if len(account.days) > SHOWN_DAYS:
        show(f"The last {SHOWN_DAYS} of {len(account.days)} days; all with --json.")
    show("hits: calls that the ledger answered instead of the model, which saved their price.")
    show("Money in USD, at the prices known now.")
    if account.unpriced:
        show(
            f"Price unknown: {', '.join(account.unpriced)}. Add price_usd_per_million = "
            '{ input = …, output = … } to [models."NAME"] in ragstone.toml.'
        )
    uncounted = account.total.made.uncounted + account.total.hits.uncounted
    if uncounted:
        show(f"{uncounted:,} calls and hits have no token counts: their endpoint gave none.")


def _table(head: str, rows: "list[tuple[str, AccountLine]]", total: "AccountLine | None") -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(head, overflow="fold")
    for name in ("calls", "tokens in", "cached", "out", "spent", "hits", "saved"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, line in rows if total is None or len(rows) < 2 else [*rows, ("all", total)]:
        made = line.made
        tokens = (f"{n:,}" for n in (made.calls, made.input, made.cached, made.output))
        table.add_row(name, *tokens, _usd(line.spent_usd), f"{line.hits.calls:,}", _usd(line.saved_usd))
    return table


def _usd(amount: float | None) -> str:
    if amount is None:
        return "unknown"
    return f"{amount:.4f}" if 0 < amount < 1 else f"{amount:,.2f}"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 100_000 else f"{n_bytes / 1e3:,.1f} kB"
