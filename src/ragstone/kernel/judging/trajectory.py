"""What a row expects an agent to call, which of its calls these are, and how far their arguments differ."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ragstone.kernel.judging.conversation import conversation_of
from ragstone.kernel.judging.lexical import common_rows
from ragstone.kernel.records import Answer, Step
from ragstone.kernel.tables.calls import named_calls, tool_named
from ragstone.kernel.tables.names import fold

EXPECTED_STEPS = (
    *("expected_steps", "reference_steps", "reference_tool_calls", "expected_tools", "expected_tool_calls"),
    *("reference_trajectory", "reference_outputs"),
)
"""Columns in which the calls are looked for that a row expects; the first that has a value is taken."""
TOOLS = ("tools", "available_tools", "tool_definitions", "functions")
"""Columns in which the tools are looked for that an agent had."""
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "args_schema")
LONGEST = 60  # characters of an argument that a reason shows


class ExpectedCall(NamedTuple):
    """A call that a row expects; `arguments` is None where it only names the tool."""

    tool: str
    arguments: Mapping[str, Any] | None = None


def expected_calls(answer: Answer) -> list[ExpectedCall] | None:
    """Return the calls that a row expects, in their order; None where it does not say.

    What a row says of a whole conversation says nothing of a single reply.
    They stand in one of EXPECTED_STEPS, as calls in the forms of step_row, names of tools, or messages with
    calls in them. Raises ValueError for anything else.
    """
    if conversation_of(answer) is not None:
        return None
    for name, value in _columns(answer, EXPECTED_STEPS):
        try:
            return [ExpectedCall(*call) for call in named_calls(value, name)]
        except TypeError as mistake:
            if name != "reference_outputs":  # which may be the reference of the answer, not of the steps
                raise ValueError(f"{mistake}.") from None
    return None


def _columns(answer: Answer, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    columns = {fold(column): value for column, value in (answer.metadata or {}).items()}
    return ((name, value) for name in names if (value := columns.get(fold(name))) not in (None, ""))


def tools_of(answer: Answer) -> dict[str, dict[str, Any] | None] | None:
    """Return tool -> JSON Schema of its arguments (None if it has none); None where the row lists no tools.

    They stand in one of TOOLS: a list of names, of definitions as OpenAI, Anthropic and MCP write them, or a
    table tool -> schema. Raises ValueError for anything else.
    """
    for name, value in _columns(answer, TOOLS):
        try:
            listed = msgspec.json.decode(value) if isinstance(value, str) else value
        except (msgspec.DecodeError, RecursionError):
            listed = None
        if isinstance(listed, Mapping):
            return {tool: _schema(schema) for tool, schema in listed.items()}
        if isinstance(listed, list):
            return dict(_defined(name, tool) for tool in listed)
        raise ValueError(f"{name} of the row must be a list of tools, not {value!r:.60}.")
    return None


def _defined(column: str, tool: object) -> tuple[str, dict[str, Any] | None]:
    if isinstance(tool, str):
        return tool, None
    named = tool_named(tool) if isinstance(tool, Mapping) else None
    if named is None or not isinstance(tool, Mapping):
        raise ValueError(f"{column} of the row has a tool without a name: {tool!r:.60}.")
    inner = tool.get("function")
    fields = inner if isinstance(inner, Mapping) else tool
    return named, next((schema for name in _SCHEMAS if (schema := _schema(fields.get(name)))), None)


def _schema(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def normal(value: object) -> Hashable:
    """Return a form in which values that mean the same are equal.

    1 is 1.0; case and runs of spaces of texts, the order of keys, and keys whose value is null do not count.
    True is not 1, a number is not its text, and the order of a list counts. Dates are texts.
    """
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, Mapping):
        return frozenset((key, normal(item)) for key, item in value.items() if item is not None)
    if isinstance(value, list | tuple):
        return ("list", *map(normal, value))
    if value is None or isinstance(value, bool):
        return ("constant", str(value))
    return value if isinstance(value, int | float) else ("other", str(value))


def pair_calls(steps: Sequence[Step], expected: Sequence[ExpectedCall]) -> list[int | None]:
    """Return for each expected call the place of the step that it is, from 0; None where there is none.

    A step is one call at most, of the same tool: first those with the same arguments, then in their order;
    steps that failed come last. In linear time.
    """
    order = sorted(range(len(steps)), key=lambda at_step: steps[at_step].error is not None)
    compared = any(call.arguments is not None for call in expected)
    by_call: defaultdict[tuple[str, Hashable], list[int]] = defaultdict(list)
    by_tool: defaultdict[str, list[int]] = defaultdict(list)
    for at_step in reversed(order):
        by_tool[steps[at_step].tool].append(at_step)
        if compared:
            by_call[steps[at_step].tool, normal(steps[at_step].arguments)].append(at_step)
    matched: list[int | None] = []
    for call in expected:
        same = [] if call.arguments is None else by_call[call.tool, normal(call.arguments)]
        matched.append(same.pop() if same else None)
    taken = {at_step for at_step in matched if at_step is not None}
    left = {tool: [at_step for at_step in places if at_step not in taken] for tool, places in by_tool.items()}
    for at, call in enumerate(expected):
        if matched[at] is None and left.get(call.tool):
            matched[at] = left[call.tool].pop()
    return matched


def in_any_order(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of those that are in both, each of them once."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at in reversed(range(len(left))):
        places[left[at]].append(at)
    return [(places[name].pop(), right_at) for right_at, name in enumerate(right) if places[name]]


def in_order(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of a longest common subsequence, in order."""
    rows = list(common_rows(left, right))
    pairs = []
    at, right_at = len(left) - 1, len(right) - 1
    while at >= 0 and right_at >= 0:
        if left[at] == right[right_at]:
            pairs.append((at, right_at))
            at, right_at = at - 1, right_at - 1
        elif rows[at] >> right_at & 1:
            right_at -= 1
        else:
            at -= 1
    return pairs[::-1]


def differences(expected: Mapping[str, Any], got: Mapping[str, Any]) -> dict[str, str]:
    """Return argument -> how the one that was given differs from the one that is expected."""
    differing: dict[str, str] = {}
    for name in dict.fromkeys((*expected, *got)):
        wanted, actual = expected.get(name), got.get(name)
        if normal(wanted) == normal(actual):
            continue
        texts = [_short(wanted), _short(actual)]
        if texts[0] == texts[1]:  # a number and its text
            texts = [repr(wanted), repr(actual)]
        differing[name] = f"expected {texts[0]}, got {texts[1]}"
    return differing


def _short(value: object) -> str:
    if value is None:
        return "none"
    text = (
        value
        if isinstance(value, str) and value.strip()
        else msgspec.json.encode(value, enc_hook=str).decode()
    )
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
