"""Embedders that ask nobody: offline, and for a forecast."""

from collections.abc import Sequence

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.embedding._endpoint import batches_of, prefixes_of
from ragstone.kernel.embedding.model import EmbeddingModel, Keep, NotEmbedded, Role
from ragstone.kernel.errors import ModelError, plural
from ragstone.kernel.llm.embedding_door import EmbeddingDoor
from ragstone.kernel.llm.forecast import Forecaster

ASSUMPTION = (
    "Texts must be embedded first. Until then the results are unknown, so the forecast uses those of BM25."
)


def offline_model(settings: ModelSettings, *, identity: str) -> EmbeddingModel:
    """Return a model that embeds nothing, so that there are the vectors of the store alone."""

    def refuse(texts: Sequence[str], _role: Role, _keep: Keep) -> None:
        raise ModelError(
            f"offline, and the embeddings store lacks {plural(len(texts), 'text')} of {identity}. Run once "
            "without --offline."
        )

    return EmbeddingModel(identity=identity, embed=refuse, prefixes=prefixes_of(settings))


def dry_run_model(forecaster: Forecaster, door: EmbeddingDoor, *, identity: str) -> EmbeddingModel:
    """Return a model that tells the forecaster what it would be asked, and then raises NotEmbedded."""
    heard: set[tuple[Role, str]] = set()

    def listen(texts: Sequence[str], role: Role, _keep: Keep) -> None:
        new = [text for text in texts if (role, text) not in heard]
        heard.update((role, text) for text in new)
        # Questions are a sample, each of which stands for several; passages are all that there are.
        weight = forecaster.weight if role == "query" else 1.0
        most, price = door.most_used(new), door.endpoint.price
        forecaster.hear_embedding(identity, len(batches_of(new)) * weight, most.input * weight, price)
        forecaster.assumptions[ASSUMPTION] = None
        forecaster.guessing = True
        raise NotEmbedded(f"{len(texts)} texts are not embedded yet: this is a forecast.")

    return EmbeddingModel(identity=identity, embed=listen, prefixes=prefixes_of(door.endpoint.settings))
