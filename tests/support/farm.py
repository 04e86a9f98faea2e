"""The domain of examples/assistant: what the tests of slots, scope and sensitive terms speak of."""

from pathlib import Path

from ragstone.assistant.domain import load_domain
from ragstone.config import AssistantSection

FOLDER = Path(__file__).parents[2] / "examples" / "assistant" / "texts"
FARM = load_domain(AssistantSection(), FOLDER)
