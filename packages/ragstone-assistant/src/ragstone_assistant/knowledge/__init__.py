"""The assistant's knowledge base: documents, kept as passages that are searched by words and by meaning."""

from ragstone_assistant.knowledge.knowledge_base import KnowledgeBase, open_knowledge

__all__ = ["KnowledgeBase", "open_knowledge"]
