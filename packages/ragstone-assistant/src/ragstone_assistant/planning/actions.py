"""What the agent can do next: call a tool, ask the user, answer, decline; and the form that it says it in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.llm import defuse
from ragstone_assistant.guards import without_instructions
from ragstone_assistant.tool import Tool

ASK_USER, ANSWER, DECLINE, SEARCH = "ask_user", "answer", "decline", "search_documents"
MOST_DESCRIBED = 600  # characters of a tool's description that a model is shown

OTHER = "other"
"""What is missing where it is none of the slots."""


class AskUser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask the user for what is missing: slots of the domain, or OTHER."""

    missing: Annotated[list[str], msgspec.Meta(min_length=1, max_length=3)]
    question: Annotated[str, msgspec.Meta(min_length=1, max_length=300, description="in the user's language")]


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reply from the results above. text: the reply; null to have it written from them."""

    text: Annotated[str, msgspec.Meta(max_length=1500)] | None = None


class Decline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Decline a question that is out of scope."""

    why: Annotated[str, msgspec.Meta(max_length=200)]


OWN: dict[str, type[msgspec.Struct]] = {ASK_USER: AskUser, ANSWER: Answer, DECLINE: Decline}


class Menu(msgspec.Struct, frozen=True, kw_only=True):
    """What can be chosen. slots: what may be asked for. told: the tools as a model is shown them. reply,
    reply_unasking: the type of its reply, with and without `ask_user`; made once, since a schema is made from
    each."""

    tools: dict[str, Tool]
    slots: tuple[str, ...]
    told: str
    reply: type[msgspec.Struct]
    reply_unasking: type[msgspec.Struct]


def menu_of(tools: Sequence[Tool], slots: Iterable[str]) -> Menu:
    """Return the menu of these tools. Raises ConfigError where two have one name, or one of our own."""
    by_name: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in by_name or tool.name in OWN:
            raise ConfigError(
                f"two of the assistant's actions are called {tool.name!r}. Rename the function in "
                "[assistant] tools, or leave out the tool of the MCP server by its key `tools`."
            )
        by_name[tool.name] = tool
    forms = {name: _schema(tool.arguments) for name, tool in by_name.items()}
    forms |= {name: _schema(arguments) for name, arguments in OWN.items()}
    askable = (*slots, OTHER)
    forms[ASK_USER]["properties"]["missing"]["items"] = {"enum": list(askable)}
    return Menu(
        tools=by_name,
        slots=askable,
        told="\n".join(_told(tool) for tool in by_name.values()),
        reply=_reply(forms),
        reply_unasking=_reply({name: form for name, form in forms.items() if name != ASK_USER}),
    )


def read_arguments(menu: Menu, action: str, arguments: Mapping[str, object]) -> msgspec.Struct:
    """Return the arguments of an action as its type. Raises ValueError that says what is wrong with them."""
    types = OWN | {name: tool.arguments for name, tool in menu.tools.items()}
    if action not in types:
        raise ValueError(f"there is no action {action!r}. {nearest(action, types)}")
    optional = {field.name for field in msgspec.structs.fields(types[action]) if not field.required}
    filled = {name: value for name, value in arguments.items() if name not in optional or not _is_null(value)}
    try:
        action_arguments = msgspec.convert(filled, types[action])
    except msgspec.ValidationError as mistake:
        raise ValueError(f"wrong arguments for {action}: {mistake}") from None
    unknown = (
        [slot for slot in action_arguments.missing if slot not in menu.slots]
        if isinstance(action_arguments, AskUser)
        else []
    )
    if unknown:
        raise ValueError(f"wrong arguments for {action}: missing is one of {', '.join(menu.slots)}.")
    return action_arguments


def _is_null(value: object) -> bool:
    """Say whether a value stands for none: small models write null as a text."""
    return value is None or (isinstance(value, str) and value.strip().casefold() in ("", "null", "none"))


def arguments_of(tool: Tool) -> list[msgspec.structs.FieldInfo]:
    """Return the fields of a tool's arguments, in order."""
    return list(msgspec.structs.fields(tool.arguments))


def _reply(forms: Mapping[str, dict[str, Any]]) -> type[msgspec.Struct]:
    """Return the type of a model's reply.

    Its schema is strict, its check is not: what is wrong with an action becomes an observation, with the
    action in the trace, and costs no second call by the door.
    """
    union = {
        "anyOf": [
            {"type": "object", "properties": {"do": {"type": "string", "enum": [name]}, "with": form}}
            for name, form in forms.items()
        ]
    }
    action = Annotated[Any, msgspec.Meta(extra_json_schema=union)]
    thought = Annotated[str, msgspec.Meta(max_length=300)]
    return msgspec.defstruct("NextAction", [("thought", thought), ("action", action)], frozen=True)


def _schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of arguments without references: it becomes part of another."""
    schema = msgspec.json.schema(arguments)
    definitions = schema.pop("$defs", {})
    inlined: dict[str, Any] = _inlined(schema, definitions)
    return {"type": "object", "properties": {}} | inlined


def _inlined(node: Any, definitions: Mapping[str, Any], within: frozenset[str] = frozenset()) -> Any:  # noqa: ANN401 - JSON of any shape
    if isinstance(node, list):
        return [_inlined(item, definitions, within) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        if name in within:  # a type that holds itself has no end: the inner one may be anything
            return {"type": "object", "properties": {}}
        return _inlined(definitions[name], definitions, within | {name})
    return {key: _inlined(value, definitions, within) for key, value in node.items()}


def _told(tool: Tool) -> str:
    """Return a tool as a model is shown it: name, description, arguments."""
    lines = [f"{tool.name}: {_clipped(without_instructions(tool.description))}"]
    for name, form in _schema(tool.arguments)["properties"].items():
        described = _clipped(without_instructions(str(form.get("description", ""))))
        lines.append(f"  {name} ({_kind(form)}){': ' if described else ''}{described}")
    return "\n".join(lines)


def _kind(form: Mapping[str, Any]) -> str:
    """Return what an argument may be, in a word or two."""
    if "anyOf" in form:
        return " or ".join(_kind(each) for each in form["anyOf"])
    if "enum" in form:
        return " or ".join(map(str, form["enum"]))
    return str(form.get("type", "anything"))


def _clipped(text: str) -> str:
    text = defuse(" ".join(text.split()))
    return text if len(text) <= MOST_DESCRIBED else text[: MOST_DESCRIBED - 1] + "…"
