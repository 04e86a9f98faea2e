"""The assistant's knowledge base: documents, kept as passages that are searched by words and by meaning."""

from ragstone.assistant.knowledge.entry import Advance, BadUpload, Built, Entry, KnowledgeDown, Placed
from ragstone.assistant.knowledge.knowledge_base import KnowledgeBase, open_knowledge
from ragstone.assistant.knowledge.uploads import Upload

__all__ = [
    "Advance",
    "BadUpload",
    "Built",
    "Entry",
    "KnowledgeBase",
    "KnowledgeDown",
    "Placed",
    "Upload",
    "open_knowledge",
]
