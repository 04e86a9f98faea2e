"""Texts that stay as they are until somebody means to change them: tests/golden."""

import os
from collections.abc import Iterable
from pathlib import Path

from ragstone.kernel.llm.prompt import Message

GOLDEN = Path(__file__).parent.parent / "golden"


def check_golden(name: str, text: str) -> None:
    """Check that a text is that of a golden file. RAGSTONE_UPDATE_GOLDEN=1 writes the file anew."""
    path = GOLDEN / name
    if os.environ.get("RAGSTONE_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "if this is meant: RAGSTONE_UPDATE_GOLDEN=1 pytest"


def check_prompt(name: str, messages: Iterable[Message]) -> None:
    """Check that messages are those of `prompts/NAME.txt`."""
    text = "\n\n".join(f"--- {message.role}\n{message.content}" for message in messages) + "\n"
    check_golden(f"prompts/{name}.txt", text)
