"""The chat page, which only uses the HTTP API."""

from ragstone.assistant.page.page import POLICY, Asset, assets, chat_page, language_wanted, texts

__all__ = ["POLICY", "Asset", "assets", "chat_page", "language_wanted", "texts"]
