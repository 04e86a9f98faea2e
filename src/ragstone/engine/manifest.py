"""manifest.json: the digests of everything that decided the outcome of a run. It holds no key and no time."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.config import Settings
from ragstone.errors import DataError
from ragstone.judging import Judge
from ragstone.judging.fields import JudgeFields
from ragstone.judging.judge import every_key
from ragstone.judging.leaves import identities
from ragstone.llm.keys import without_password
from ragstone.systems.chosen import asks_built_in
from ragstone.systems.prompting import AnsweringPrompt, load_prompt
from ragstone.tables.storage import Place, fingerprint
from ragstone.version import __version__

FILE = "manifest.json"
# Tables of other commands, and of where a run is made: they decide nothing of a run or a bench.
OTHERS = ("blame", "build", "sample", "translate", "engine", "ledger", "workbench")


def check_manifest(folder: Path, settings: Settings, force: bool) -> None:
    """Refuse to replace a finished run that other settings made, unless `force` is given.

    Raises DataError; nothing has been changed then. A run that was interrupted has no manifest and is
    taken up again; so the manifest of a run that is being replaced goes first.
    """
    path = folder / FILE
    if not path.is_file():
        return
    try:
        changed = _changed(msgspec.json.decode(path.read_bytes())["settings"], _settings(settings))
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        if not force:
            raise DataError(f"{path}: not a manifest of Ragstone. Remove it, or add --force.") from None
        changed = ["all"]
    if changed and not force:
        raise DataError(
            f"{folder} holds a finished run with other settings ({', '.join(changed)}). "
            "Give the new one another name ([run] name in ragstone.toml), or --force to replace it."
        )
    if changed:
        path.unlink()


def write_manifest(
    folder: Path, settings: Settings, judges: Sequence[Judge], models: Mapping[str, str]
) -> None:
    """Write the manifest, as the last of a run's inputs."""
    manifest = {
        "ragstone": __version__,
        "settings": _settings(settings),
        "models": models,
        "judges": {
            judge.name: {"version": judge.version, "digest": digest_of(judge)} for judge in identities(judges)
        },
        "files": {file.name: _digest(file.read_bytes()) for file in sorted(folder.glob("*.jsonl"))},
    }
    if asks_built_in(settings) and settings.answer.model:
        prompt = load_prompt(settings.named(settings.answer.prompt))
        manifest["prompt"] = {
            "name": prompt.name,
            "version": prompt.version,
            "digest": digest_of(prompt),
        }
    (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2))


def digest_of(given: AnsweringPrompt | JudgeFields) -> str:
    """Return what changes when an answering prompt or a judge does."""
    if isinstance(given, JudgeFields):  # as it was written before a temperature could be left to the model
        return _digest(_encode(every_key(given) | {"temperature": given.temperature or 0.0}))
    return _digest(_encode(given))


def made_from(settings: Settings, stage: str, sources: Iterable[Place], *others: object) -> str:
    """Return the digest of what the rows of a stage are made from, for shards that are gone on with.

    sources: files and folders that it reads, by their content; those at URLs by their names and lengths. How
    models are reached does not count, as it does not for the ledger.
    """
    tables = _settings(settings)
    del tables["models"]
    digest = hashlib.blake2b(_encode((stage, tables, others)), digest_size=16)
    for source in sources:
        for piece in fingerprint(source):
            digest.update(piece)
    return digest.hexdigest()


def _settings(settings: Settings) -> dict[str, Any]:
    """Return the settings as JSON has them, without those of other commands, their folder, and passwords."""
    found: dict[str, Any] = msgspec.json.decode(_encode(settings))
    for name in ("root", "file", *OTHERS):
        del found[name]
    for system in found["systems"].values():
        if system["kind"] == "http":  # a header may be a secret that somebody wrote there; its name is none
            system |= {"url": without_password(system["url"]), "headers": sorted(system["headers"])}
    for model in found["models"].values():
        model["base_url"] = model["base_url"] and without_password(model["base_url"])
        model["headers"] = sorted(model["headers"])
    return found


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the tables of ragstone.toml that differ."""
    before, now = _declared(before), _declared(now)
    return sorted(f"[{name}]" for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def _declared(settings: Any) -> Any:  # noqa: ANN401 - JSON
    """Return settings without what is absent or empty: an older manifest lacks keys that are newer."""
    if not isinstance(settings, Mapping):
        return settings
    inner = {name: _declared(value) for name, value in settings.items()}
    return {name: value for name, value in inner.items() if value not in (None, {}, [])}


def _encode(value: object) -> bytes:
    return msgspec.json.encode(value)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
