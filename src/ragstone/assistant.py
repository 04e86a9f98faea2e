"""The assistant's part of the public API: the distribution ragstone-assistant, extra `assistant`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone_assistant import Asked as Asked
    from ragstone_assistant import Assistant as Assistant
    from ragstone_assistant import Citation as Citation
    from ragstone_assistant import Passage as Passage
    from ragstone_assistant import Said as Said
    from ragstone_assistant import build_knowledge as build_knowledge
    from ragstone_assistant import open_assistant as open_assistant


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the distribution has under that name
    if name.startswith("__"):
        raise AttributeError(name)
    from ragstone.kernel.errors import optional_package

    with optional_package("the assistant", "assistant"):
        return getattr(import_module("ragstone_assistant"), name)
