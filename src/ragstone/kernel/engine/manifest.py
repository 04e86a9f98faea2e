"""manifest.json: the digests of everything that decided the outcome of a run. It holds no key and no time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.engine.digests import digest_of, hexdigest, plain_settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import Judge
from ragstone.kernel.runs.folders import MANIFEST
from ragstone.kernel.systems.chosen import asks_built_in
from ragstone.kernel.systems.prompting import load_prompt
from ragstone.kernel.version import __version__


def check_manifest(folder: Path, settings: Settings, force: bool) -> None:
    """Refuse to replace a finished run that other settings made, unless `force` is given.

    Raises DataError; nothing has been changed then. A run that was interrupted has no manifest and is
    taken up again; so the manifest of a run that is being replaced goes first.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return
    try:
        before = _declared(msgspec.json.decode(path.read_bytes())["settings"])
        now = _declared(plain_settings(settings))
        changed = sorted(
            f"[{name}]" for name in before.keys() | now.keys() if before.get(name) != now.get(name)
        )
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
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
        "settings": plain_settings(settings),
        "models": models,
        "judges": {
            judge.name: {
                "version": judge.version,
                "digest": digest_of(judge),
                **({"best": "lowest"} if judge.best == "lowest" else {}),
            }
            for whole in judges
            for judge in whole.identities()
        },
        "files": {file.name: hexdigest(file.read_bytes()) for file in sorted(folder.glob("*.jsonl"))},
    }
    if asks_built_in(settings) and settings.answer.model:
        prompt = load_prompt(settings.named(settings.answer.prompt))
        manifest["prompt"] = {
            "name": prompt.name,
            "version": prompt.version,
            "digest": digest_of(prompt),
            "text": prompt.prompt,
        }
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2))


def _declared(settings: Any) -> Any:  # noqa: ANN401 - JSON
    """Return settings without what is absent or empty: an older manifest lacks keys that are newer."""
    if not isinstance(settings, Mapping):
        return settings
    inner = {name: _declared(value) for name, value in settings.items()}
    return {name: value for name, value in inner.items() if value not in (None, {}, [])}
