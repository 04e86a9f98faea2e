"""Values as tools and logs keep them -> the text that was asked, and the text that was answered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragstone.tables.names import QUESTION_NAMES

_MESSAGES = ("messages", "conversation", "conversations", "history", "chat", "turns", "chat_history")
_ROLE, _CONTENT = (
    ("role", "from", "author", "sender", "speaker"),
    ("content", "value", "text", "message", "parts"),
)
_USER = {"user", "human", "customer", "client", "visitor", "prompter", "person"}
_ASSISTANT = {"assistant", "gpt", "bot", "ai", "model", "agent", "chatbot", "system_reply"}
MOST_LEVELS = 5  # of objects in objects


def said_in(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the last user's message of a conversation and the reply to it, as far as there is one."""
    messages = _messages(row, MOST_LEVELS)
    said = [(_role(one), _text(_first(one, _CONTENT), MOST_LEVELS)) for one in messages]
    last = max((at for at, (role, text) in enumerate(said) if role in _USER and text), default=None)
    if last is None:
        return None, None
    replies = [text for role, text in said[last + 1 :] if role in _ASSISTANT and text]
    return said[last][1], replies[-1] if replies else None


def _messages(row: Mapping[str, Any], levels: int) -> list[Mapping[str, Any]]:
    """Return the messages of a row: its own, else those of an object in it, such as a request's body."""
    for name in (*_MESSAGES, "input", "inputs", "prompt"):
        listed = row.get(name)
        if isinstance(listed, list) and any(isinstance(one, Mapping) and _role(one) for one in listed):
            return [one for one in listed if isinstance(one, Mapping)]
    for name in ("request", "body", "input", "inputs", "kwargs", "data") if levels else ():
        inner = row.get(name)
        if isinstance(inner, Mapping):
            found = _messages(inner, levels - 1)
            if found:
                return found
    return []


def _role(message: Mapping[str, Any]) -> str:
    role = _first(message, _ROLE)
    role = role.get("role") if isinstance(role, Mapping) else role
    return role.casefold() if isinstance(role, str) else ""


def _first(row: Mapping[str, Any], names: Iterable[str]) -> object:
    return next((row[name] for name in names if row.get(name) is not None), None)


def question_text(value: object) -> str | None:
    """Return a question's text; an object holds it under a known name."""
    if isinstance(value, Mapping):
        inner = {str(name).casefold(): one for name, one in value.items()}
        return next((text for name in QUESTION_NAMES if (text := _text(inner.get(name), 1))), None)
    return _text(value, 0)


def answer_text(value: object) -> str | None:
    """Return an answer's text, also from within choices, outputs and parts."""
    return _text(value, MOST_LEVELS)


def _text(value: object, levels: int) -> str | None:
    """Return the text that a value holds: itself, or that of choices, outputs, parts and contents."""
    if isinstance(value, str):
        return value.strip() or None
    if not levels:
        return None
    if isinstance(value, Mapping):
        inner = (
            "output_text",
            "content",
            "text",
            "answer",
            "output",
            "message",
            "choices",
            "body",
            "response",
            "parts",
        )
        return next((text for name in inner if (text := _text(value.get(name), levels - 1))), None)
    if isinstance(value, Sequence):
        said = [text for one in value if (text := _text(one, levels - 1))]
        return "\n".join(said) or None
    return None
