"""`ragstone models`: the providers and models that can be named, whose key is there, what each can do."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.options import AsJson, Config, Whole
from ragstone.kernel.console.printing import show_blocks, show_json
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from ragstone.features.bench import SuiteCard
    from ragstone.kernel.config import Price
    from ragstone.kernel.document.blocks import Block, Table
    from ragstone.kernel.llm.catalogue import GgufEntry, ModelCatalogue, ModelEntry, ProviderEntry

PRICES = ("input", "cached", "cache_write", "output")  # as in the tables of ragstone.toml
HINT = """\
What a provider can do is taken from its documentation; a gap means unknown.
List prices of a provider: ragstone models PROVIDER.
What a model can really do: ragstone doctor --model NAME.
What it is worth as a judge: ragstone bench judges --suite --model NAME."""


def models(
    provider: Annotated[
        str | None, typer.Argument(help="Show the list prices of this provider's models.")
    ] = None,
    *,
    config: Config = None,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """List the providers and models that you can use, which keys are set, and what each model can do.

    Examples:

    - `ragstone models`
    - `ragstone models openai`
    """
    import msgspec

    from ragstone.features.bench import known_cards
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.errors import ModelError, nearest
    from ragstone.kernel.llm.catalogue import list_models
    from ragstone.kernel.records import NO_MODEL

    settings = load_settings(config)
    catalogue = list_models(settings)
    if provider is None:
        cards = [card for card in known_cards(settings.path(".ragstone")) if card.model != NO_MODEL]
        if json:
            from ragstone.features.models._output import ModelsOutput

            show_json(ModelsOutput(**msgspec.structs.asdict(catalogue), cards=cards))
        else:
            show_blocks(_every_block(catalogue, cards), whole=whole)
        return
    entries = {entry.name: entry for entry in catalogue.providers}
    if provider not in entries:
        raise ModelError(f"unknown provider {provider!r}. {nearest(provider, entries)}")
    if json:
        show_json(entries[provider])
    else:
        show_blocks(_prices(entries[provider]), whole=whole)


def _every_block(catalogue: "ModelCatalogue", cards: "Sequence[SuiteCard]") -> "list[Block]":
    """Return who can be asked now, then what is known of models, and every provider."""
    from ragstone.kernel.document.blocks import Heading, Paragraph

    ready = [entry.name for entry in catalogue.providers if entry.key is not None]
    sentence = f"A key is set for {', '.join(ready)}." if ready else "No provider's key is set."
    learnt = [
        [name, f"{findings.findings}; learnt {findings.day}"] for name, findings in catalogue.learnt.items()
    ]
    tables = {
        "Models of ragstone.toml": map(_model_cells, catalogue.models),
        "GGUF models, for this process": map(_gguf_cells, catalogue.gguf),
        "Learnt by asking them, kept for 30 days": learnt,
        "Measured as judges, on the touchstone suite": map(_card_cells, cards),
        "Providers": map(_provider_cells, catalogue.providers),
    }
    return [
        Paragraph(sentence, tone="outcome"),
        *(
            block
            for head, each in tables.items()
            if (rows := list(each))
            for block in (Heading(head, level=3), _table([""] * len(rows[0]), rows, head))
        ),
        Heading("How to read this", level=3),
        Paragraph(HINT),
    ]


def _prices(entry: "ProviderEntry") -> "list[Block]":
    """Return the list prices of a provider, with their sources."""
    from msgspec.structs import replace

    from ragstone.kernel.document.blocks import Heading, Paragraph

    provider = _table(["provider", ""], [_provider_cells(entry)], entry.name)
    if not entry.prices:
        without = 'No list prices. Give price_usd_per_million in [models."NAME"] of ragstone.toml.'
        return [provider, Paragraph(without)]
    sources = list(dict.fromkeys(price.source for price in entry.prices))
    rows = [
        [
            f"{entry.name}/{price.model}",
            *("" if (usd := getattr(price, name)) is None else f"{usd:g}" for name in PRICES),
            f"[{sources.index(price.source) + 1}] {price.read}",
        ]
        for price in entry.prices
    ]
    table = _table(["USD per million tokens", *PRICES, "source, read on"], rows, "List prices")
    return [
        provider,
        replace(table, part="main"),
        Heading("Sources", level=3),
        *(Paragraph(f"[{n}] {source}") for n, source in enumerate(sources, 1)),
    ]


def _provider_cells(entry: "ProviderEntry") -> list[str]:
    days = {str(price.read) for price in entry.prices}
    prices = f"{plural(len(entry.prices), 'list price')}, read {max(days)}" if days else ""
    lines = [[entry.title, _key(entry), _address(entry)], [" ".join(entry.can), prices]]
    return [f"{entry.name}/MODEL", "\n".join("; ".join(filter(None, parts)) for parts in lines).strip()]


def _key(entry: "ProviderEntry") -> str:
    if entry.key is not None:
        return f"{entry.key} is set"
    if not entry.needs_key:
        return "no key needed"
    return f"set {' or '.join(entry.keys)}" if entry.keys else "key: that of PROVIDER"


def _address(entry: "ProviderEntry") -> str:
    if entry.address is not None:
        return entry.address
    return f"set {' or '.join(entry.address_variables)}" if entry.address_variables else ""


def _model_cells(entry: "ModelEntry") -> list[str]:
    settings = [
        "decision model" if entry.decides else None,
        entry.address,
        entry.key and f"{'key' if entry.key_found else 'no key'} in {entry.key}",
        None if entry.temperature is None else f"temperature {entry.temperature:g}",
        None if entry.reasoning_tokens is None else f"reasoning_tokens {entry.reasoning_tokens:,}",
        _price(entry.price),
    ]
    probed = f"probed {entry.probe.day}: {entry.probe.findings}" if entry.probe else "not probed"
    return [entry.model, "\n".join(["; ".join(filter(None, settings)), probed])]


def _price(price: "Price | None") -> str:
    from ragstone.kernel.llm.providers import read_on

    if price is None:
        return "price unknown"
    if price.input == price.output == 0:
        return "costs nothing"
    known = [(name, getattr(price, name)) for name in PRICES]
    listed = ", ".join(f"{name} {amount:g}" for name, amount in known if amount is not None)
    day = read_on(price)
    return f"USD per million tokens: {listed}" + (f" (list price of {day})" if day else "")


def _gguf_cells(entry: "GgufEntry") -> list[str]:
    size = "not installed" if entry.n_bytes is None else f"{entry.n_bytes / 1e6:,.0f} MB"
    return [entry.model, size, entry.install or entry.path or ""]


def _card_cells(card: "SuiteCard") -> list[str]:
    from ragstone.kernel.document.numbers import with_ends

    kinds = (f"{measured.kind} {with_ends(measured.found)}" for measured in card.kinds if measured.found)
    summary = f"{card.judge}: {card.fitness}; {', '.join(kinds)}; {card.n_rows:,} rows"
    return [card.model, summary]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> "Table":
    from ragstone.kernel.document.blocks import Column, Table

    return Table([Column(head, text=head not in PRICES) for head in heads], list(rows), label)
