"""Messages as models, agents and their frameworks write them -> messages in one shape, and calls of tools.

Read are OpenAI's chats and responses (items of the Agents SDK), Anthropic's content blocks, the parts of
OpenTelemetry's GenAI conventions, OpenInference's messages, and LangChain's (LangGraph, LangSmith), also
those that it serialised.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ragstone.kernel.tables.calls import step_row, tool_named
from ragstone.kernel.tables.interchange.values import (
    answer_in,
    answer_text,
    content_in,
    decoded,
    fields_in,
    first_in,
    nested,
    objects_in,
    question_in,
    role_in,
    said_in,
    written,
)
from ragstone.kernel.tables.names import CONTENT_NAMES

_WRAPPERS = ("kwargs", "data", "message", "message_content", "tool_call")  # LangChain's and OpenInference's
_CALLS = {"tool_call", "tool_use", "tool-call", "server_tool_use", "function_call"}
_RESULTS = {"tool_call_response", "tool_result", "tool-result", "function_call_output", "tool_call_output"}
_THOUGHTS = {"reasoning": ("content", "summary", "reasoning"), "thinking": ("thinking",)}
_CALL_IDS = ("call_id", "tool_call_id", "tool_use_id", "toolCallId", "id")
_MORE_NAMES = {
    "tool": ("toolName",),
    "arguments": ("action", "queries", "code"),
    "result": ("outputs", "results"),
}
_OUTPUTS = ("response", "result", "output", "content")
_PLAIN = {"role", "content", "finish_reason"}
_HOLDERS = ("messages", "generations", "choices", "output", "message")
"""Names under which an input or an output of a model holds its messages."""
_LANGCHAIN = {"human", "ai", "system", "tool", "function", "chat", "user", "assistant"}

Message = dict[str, Any]


def plain_messages(messages: Iterable[Any]) -> list[Message]:
    """Return messages with what they tell under one set of names, in order.

    role, content; of the assistant's `tool_calls`, each with `id` and as step_row reads it, and `thought`,
    what it reasoned before; of a tool's `tool_call_id`, and `failed` where it says so. Other fields stay, and
    so does a message of which no role is known. One with several parts may become several.
    """
    plain: list[Message] = []
    thought = ""
    # LangSmith has a list for each of the prompts that were sent together.
    for message in chain.from_iterable(part if isinstance(part, list) else (part,) for part in messages):
        for part in _plain(message):
            if part.pop("only_thought", False):
                thought = "\n".join(filter(None, (thought, part["thought"])))
                continue
            if thought and role_in(part) == "assistant":
                part["thought"] = "\n".join(filter(None, (thought, part.get("thought"))))
                thought = ""
            plain.append(part)
    return plain


def unwrapped(message: object) -> Message:
    """Return the fields of a message or a part of one, from within what it is wrapped in."""
    fields = dict(fields_in(message))
    if any("." in str(name) for name in fields):
        fields = nested(fields)
    while "content" not in fields and (
        name := next((wrapper for wrapper in _WRAPPERS if fields_in(fields.get(wrapper))), None)
    ):
        fields |= fields.pop(name)
    if "contents" in fields and fields.get("content") is None:
        fields["content"] = fields.pop("contents")
    if "role" not in fields and str(fields.get("type")).casefold() in _LANGCHAIN:
        fields["role"] = fields["type"]
    return fields


def _plain(message: object) -> Iterator[Message]:
    if type(message) is dict and message.keys() <= _PLAIN and isinstance(message.get("content"), str):
        yield dict(message)
        return
    fields = unwrapped(message)
    kind = _type(fields)
    if kind in _THOUGHTS:
        yield {"only_thought": True, "thought": _thought(fields)}
    elif kind in _RESULTS:
        yield _result(fields)
    elif kind in _CALLS or (kind.endswith("_call") and role_in(fields) is None):
        yield {"role": "assistant", "content": "", "tool_calls": [_call(fields)]}
    else:
        yield from _with_parts(fields)


def _with_parts(fields: Message) -> Iterator[Message]:
    """Yield a message whose calls, results and thoughts may stand among the parts of its content."""
    # LangChain may keep the calls as they were sent, beside the message.
    beside = fields_in(fields.get("additional_kwargs")).get("tool_calls")
    listed_calls = objects_in(decoded(fields.get("tool_calls"))) or objects_in(decoded(beside))
    calls = [_call(unwrapped(call)) for call in listed_calls]
    listed = next((value for name in CONTENT_NAMES if isinstance(value := fields.get(name), list)), None)
    parts = [unwrapped(part) for part in objects_in(listed)]
    known = {call["id"] for call in calls} - {None}
    calls += [call for part in parts if _is_call(part) and (call := _call(part))["id"] not in known]
    results = [_result(part) for part in parts if _type(part) in _RESULTS]
    thoughts = [_thought(part) for part in parts if _type(part) in _THOUGHTS]
    if calls or results or thoughts:
        apart = (*_RESULTS, *_THOUGHTS)
        texts = [part for part in parts if not _is_call(part) and _type(part) not in apart]
        others = {name: value for name, value in fields.items() if value is not listed or value is None}
        fields = others if listed is None else {**others, "content": texts}
        fields |= {"tool_calls": calls} if calls else {}
    yield from results
    if results and not calls and not content_in(fields):
        return
    if any(thoughts):
        fields["thought"] = "\n".join(filter(None, thoughts))
    if role_in(fields) == "tool":
        fields["tool_call_id"] = _call_id(fields)
    yield {**fields, "failed": True} if fields.get("status") == "error" else fields


def _is_call(part: Mapping[str, Any]) -> bool:
    return _type(part) in _CALLS or isinstance(part.get("functionCall"), Mapping)


def _type(part: Mapping[str, Any]) -> str:
    return str(part.get("type"))


def _call_id(fields: Mapping[str, Any]) -> str | None:
    call_id = first_in(fields, _CALL_IDS)
    return None if call_id is None else str(call_id)


def _call(fields: Mapping[str, Any]) -> Message:
    """Return a call with its id in a form that step_row reads; without a name it has that of its item."""
    call = {**fields, **fields_in(fields.get("functionCall")), "id": _call_id(fields)}
    for name, others in _MORE_NAMES.items():
        if call.get(name) is None and (value := first_in(call, others)) is not None:
            call[name] = value
    if tool_named(call) is None:
        call["name"] = str(fields.get("type") or "unknown").removesuffix("_call")
    return call


def _result(fields: Mapping[str, Any]) -> Message:
    failed = fields.get("is_error") or fields.get("error") is not None or fields.get("status") == "error"
    return {
        "role": "tool",
        "tool_call_id": _call_id(fields),
        "content": result_text(first_in(fields, ("error", *_OUTPUTS))) or "",
        **({"failed": True} if failed else {}),
    }


def _thought(fields: Mapping[str, Any]) -> str:
    return answer_text(first_in(fields, _THOUGHTS[_type(fields)])) or ""


def result_text(value: object) -> str | None:
    """Return what a tool brought as text: a text as it is, parts of text joined, anything else as JSON."""
    parts = objects_in(value)
    if parts and all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
        return "\n".join(part["text"] for part in parts)
    return written(value)


def messages_of(value: object) -> list[Message]:
    """Return the messages, see plain_messages, that an input or output of a model or an agent holds."""
    inside = decoded(value)
    if isinstance(inside, Mapping):
        inside = next(
            (inside[name] for name in _HOLDERS if isinstance(inside.get(name), list | Mapping)), [inside]
        )
    listed = [inside] if isinstance(inside, Mapping) else inside if isinstance(inside, list) else []
    return [message for message in plain_messages(listed) if role_in(message) is not None]


def asked_in(value: object, messages: Sequence[Message]) -> str | None:
    """Return the question that an input holds, see question_in. messages: those in it."""
    return (said_in({"messages": messages})[0] if messages else None) or question_in(value)


def answered_in(value: object, messages: Sequence[Message]) -> str | None:
    """Return the answer that an output holds, see answer_in; None where it only says which tools to call."""
    replies = [
        text for message in messages if role_in(message) == "assistant" and (text := content_in(message))
    ]
    if replies or any(message.get("tool_calls") for message in messages):
        return replies[-1] if replies else None
    return None if value is None else answer_in(value)


def calls_of(messages: Iterable[Message]) -> list[Message]:
    """Return the calls since the last message of a user as steps, with `id` and what came of each.

    messages: plain ones, see there. `thought`: what the assistant reasoned or said beside the call.
    """
    calls: list[Message] = []
    waiting: dict[str | None, Message] = {}
    for message in messages:
        role = role_in(message)
        if role == "user":
            calls.clear()
        thought = message.get("thought") or content_in(message)
        for call in objects_in(message.get("tool_calls")):
            step = step_row(call) | {"id": call["id"]}
            calls.append(step | ({"thought": thought} if thought and "thought" not in step else {}))
            waiting[call["id"]] = calls[-1]
        if role == "tool":
            answer_call(waiting.get(message.get("tool_call_id")), message, content_in(message) or "")
    return calls


def answer_call(step: Message | None, message: Mapping[str, Any], text: str) -> None:
    """Note what a tool's message says as the result of the call that it answers, or as its error."""
    if step is not None and not step.keys() & {"result", "error"}:
        step["error" if message.get("failed") else "result"] = text
