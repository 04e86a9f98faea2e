"""Embedders of the package sentence-transformers: a folder on disk, or a name that it finds on its hub."""

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.embedding.model import EmbeddingModel, Role, Vectors, in_batches
from ragstone.kernel.errors import MissingExtra, ModelError

_one_at_a_time = Lock()


def transformer_model(name: str, folder: Path, settings: ModelSettings) -> EmbeddingModel:
    """Return the model of that name, loaded when it first embeds a text.

    folder: the name as a path; where there is such a folder, the model is read from it. Prefixes of the
    settings replace the prompts that the model itself declares. Raises MissingExtra without the package.
    """
    if find_spec("sentence_transformers") is None:
        raise MissingExtra(f"the embedder 'sentence-transformers/{name}'", "sentence-transformers")
    local = folder.is_dir()
    own_prompts = not (settings.query_prefix or settings.passage_prefix)

    def embed(texts: Sequence[str], role: Role) -> Vectors:
        with _one_at_a_time:
            model = _load(str(folder) if local else name, settings.dimensions)
            encode = model.encode
            if own_prompts:
                encode = model.encode_query if role == "query" else model.encode_document
            vectors = encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)

    identity = f"sentence-transformers/{name}"
    if local:  # what changes when a file of the folder does: a digest of their names, sizes and times
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        states = [
            (path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
            for path in files
        ]
        digest = blake2b(repr(states).encode("utf-8", "surrogatepass"), digest_size=6)
        identity += f"@{digest.hexdigest()}"
    return EmbeddingModel(
        identity=identity + (f"#{settings.dimensions}" if settings.dimensions else ""),
        embed=in_batches(embed),
        prefixes={"query": settings.query_prefix, "passage": settings.passage_prefix},
    )


@cache
def _load(name: str, dimensions: int | None) -> Any:  # noqa: ANN401 - the package is optional
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(name, truncate_dim=dimensions)
    except (OSError, ValueError) as mistake:
        raise ModelError(
            f"sentence-transformers/{name} cannot be loaded ({' '.join(str(mistake).split())[:200]}). Give "
            "the path of a folder that contains the model, or a name that its hub knows, if that can be "
            "reached."
        ) from None
