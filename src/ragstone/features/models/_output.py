"""What `ragstone models --json` prints."""

from ragstone.features.bench import SuiteCard
from ragstone.kernel.llm.catalogue import ModelCatalogue


class ModelsOutput(ModelCatalogue, frozen=True, kw_only=True):
    """What can be named as a model, and the report cards of models that were judges of a suite here."""

    cards: list[SuiteCard]
