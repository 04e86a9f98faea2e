"""The assistant over HTTP: OpenAI's chat API, conversations, documents, health and metrics."""

from ragstone.assistant.api.app import create_app
from ragstone.assistant.api.desk import Clocks
from ragstone.assistant.api.gate import is_loopback
from ragstone.assistant.api.keys import read_keys

__all__ = ["Clocks", "create_app", "is_loopback", "read_keys"]
