"""The domain of examples/assistant: what the tests of slots, scope and sensitive terms speak of."""

from pathlib import Path

from ragstone.kernel.config import AssistantSection
from ragstone_assistant._domain import load_domain

FOLDER = Path(__file__).parents[2] / "examples" / "assistant" / "texts"
FARM = load_domain(AssistantSection(), FOLDER)
