"""Digests of judges, prompts and of what rows are made from. They hold no key and no time."""

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.llm.keys import without_password
from ragstone.kernel.tables.columns import CHOICE
from ragstone.kernel.tables.storage import Place, fingerprint

if TYPE_CHECKING:
    from ragstone.kernel.systems.prompting import AnsweringPrompt

# Tables of other commands, and of where a run is made: they decide nothing of a run or a bench.
OTHERS = ("blame", "build", "sample", "translate", "engine", "ledger", "workbench")


def digest_of(source: "AnsweringPrompt | JudgeFields") -> str:
    """Return what changes when an answering prompt or a judge does."""
    if isinstance(source, JudgeFields):  # as it was written before a temperature could be left to the model
        return hexdigest(msgspec.json.encode(source.every_key() | {"temperature": source.temperature or 0.0}))
    return hexdigest(msgspec.json.encode(source))


def made_from(settings: Settings, stage: str, sources: Iterable[Place], *others: object) -> str:
    """Return the digest of what the rows of a stage are made from, for shards that are gone on with.

    sources: files and folders that it reads, by their content; those at URLs by their names and lengths. How
    models are reached does not count, as it does not for the ledger.
    """
    tables = plain_settings(settings)
    del tables["models"]
    digest = hashlib.blake2b(msgspec.json.encode((stage, tables, others)), digest_size=16)
    for source in sources:
        for piece in fingerprint(source):
            digest.update(piece)
    return digest.hexdigest()


def plain_settings(settings: Settings, others: Iterable[str] = OTHERS) -> dict[str, Any]:
    """Return the settings as JSON has them, without `others` (of other commands), folder and passwords."""
    tables: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(settings))
    for name in ("root", "file", *others):
        del tables[name]
    chosen = CHOICE.get()
    if chosen.columns or chosen.worksheet:  # of the command line: they decide what is read
        tables["columns"] = {**chosen.columns, "worksheet": chosen.worksheet}
    if chosen.where is not None:
        tables["where"] = chosen.where
    for system in tables["systems"].values():
        if system["kind"] == "http":  # a header may be a secret that somebody wrote there; its name is none
            system |= {"url": without_password(system["url"]), "headers": sorted(system["headers"])}
    for model in tables["models"].values():
        model["base_url"] = model["base_url"] and without_password(model["base_url"])
        model["headers"] = sorted(model["headers"])
    return tables


def hexdigest(content: bytes) -> str:
    """Return the digest of bytes, as text."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
