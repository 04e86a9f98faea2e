"""A row of a log, in anybody's columns -> what was asked, and what was answered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ragstone.records import Answer, Context
from ragstone.tables.columns import accepted_names, as_contexts

_QUESTION = (
    *accepted_names(Answer, "question"),
    *("prompt", "user_message", "user_query", "user_question", "search_query", "search_term", "message"),
    *("utterance", "text", "q", "inputs", "request", "body", "question_text"),
)
_ANSWER = (
    *accepted_names(Answer, "answer"),
    *("reply", "assistant_message", "assistant", "bot_response", "bot_message", "response_text", "outputs"),
    *("result", "output_text", "generation", "message_out", "answer_text"),
)
_CONTEXTS = (*accepted_names(Answer, "contexts"), "sources", "passages")
_ID = ("question_id", "id", "_id", "qid", "query_id", "trace_id", "request_id", "custom_id")
_SYSTEM = accepted_names(Answer, "system")
_MESSAGES = ("messages", "conversation", "conversations", "history", "chat", "turns", "chat_history")
_ROLE, _CONTENT = (
    ("role", "from", "author", "sender", "speaker"),
    ("content", "value", "text", "message", "parts"),
)
_USER = {"user", "human", "customer", "client", "visitor", "prompter", "person"}
_ASSISTANT = {"assistant", "gpt", "bot", "ai", "model", "agent", "chatbot", "system_reply"}
MOST_LEVELS = 5  # of objects in objects


class Columns(msgspec.Struct, frozen=True):
    """The columns that the user has named; None and empty: those whose names are known.

    A name with dots reaches into objects: `feedback.thumbs`.
    """

    question: str | None = None
    answer: str | None = None
    quality: str | None = None
    reference: str | None = None
    tags: tuple[str, ...] = ()


class Exchange(msgspec.Struct, frozen=True):
    """What one row says: a question, and what is known of its answer. `quality` is as the log has it."""

    question: str
    id: str | None = None
    answer: str | None = None
    contexts: list[Context] | None = None
    system: str | None = None
    reference: str | None = None
    quality: object = None
    tags: dict[str, str] = {}


def exchange_of(raw: Mapping[str, Any], columns: Columns) -> Exchange | None:
    """Return what a row says, None where it asks nothing.

    The question is the named column, else the first known one that holds text; of a list of messages the last
    of a user, and the answer is the assistant's after it. Requests to and replies of OpenAI's endpoints,
    in batches too, are such lists.
    """
    row = {str(name).strip().casefold(): value for name, value in raw.items()}
    row |= {str(name): value for name, value in raw.items()}
    asked, answered = _from_messages(row)
    if columns.question is not None:
        asked = _as_question(cell(raw, columns.question))
    elif asked is None:
        asked = next((text for name in _QUESTION if (text := _as_question(row.get(name)))), None)
    if not asked:
        return None
    if columns.answer is not None:
        answered = _as_answer(cell(raw, columns.answer))
    elif answered is None:
        answered = next((text for name in _ANSWER if (text := _as_answer(row.get(name)))), None)
    return Exchange(
        question=asked,
        id=next((str(row[name]) for name in _ID if isinstance(row.get(name), str | int)), None),
        answer=answered,
        contexts=_contexts(row),
        system=next((row[name] for name in _SYSTEM if isinstance(row.get(name), str) and row[name]), None),
        reference=_as_answer(cell(raw, columns.reference)) if columns.reference else None,
        quality=cell(raw, columns.quality) if columns.quality else None,
        tags={name: str(value) for name in columns.tags if (value := cell(raw, name)) not in (None, "")},
    )


def cell(raw: Mapping[str, Any], column: str) -> Any:  # noqa: ANN401 - whatever the log holds
    """Return the value of a column, by its name or by a path with dots; None where there is none."""
    if column in raw:
        return raw[column]
    first, _, rest = column.partition(".")
    inner = raw.get(first)
    return cell(inner, rest) if rest and isinstance(inner, Mapping) else None


def _from_messages(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
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


def _as_question(value: object) -> str | None:
    """Return a question's text; an object holds it under a known name."""
    if isinstance(value, Mapping):
        inner = {str(name).casefold(): one for name, one in value.items()}
        return next((text for name in _QUESTION if (text := _text(inner.get(name), 1))), None)
    return _text(value, 0)


def _as_answer(value: object) -> str | None:
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


def _contexts(row: Mapping[str, Any]) -> list[Context] | None:
    given = next((row[name] for name in _CONTEXTS if row.get(name)), None)
    if given is None:
        return None
    try:
        return msgspec.convert(as_contexts(given), list[Context] | None)
    except (TypeError, ValueError):  # of a form that nobody knows: an answer without its contexts
        return None
