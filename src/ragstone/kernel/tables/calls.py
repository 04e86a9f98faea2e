"""Calls of tools as other tools write them -> steps in ours, and the calls that a row expects."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from ragstone.kernel.records import Step, count_of, figure_of
from ragstone.kernel.tables.names import ROLE_NAMES, fields_of

_NAMES: Mapping[str, tuple[str, ...]] = {
    "tool": ("tool", "name", "tool_name", "action"),
    "arguments": ("arguments", "args", "input", "input_parameters", "inputParameters"),
    "result": ("result", "output", "observation"),
    "seconds": ("seconds", "latency_s", "duration_s"),
    "thought": ("thought", "reasoning"),
}
_FAILED = ("failed", "invalid", "error")
_FIELDS = fields_of(Step)
CALLS = ("tool_calls", "tools_called", "toolsCalled")
"""Names under which a message holds its calls."""
FORM = '{"tool": "weather", "arguments": {"place": "Nakuru"}}'


def step_row(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call as a step: ours, OpenAI's with its `function`, or any with a name.

    Without a name the tool is `unknown`; a result that is no text is written as JSON. Where a `status` says
    that the call failed, the result is its error.
    """
    if (
        call.keys() <= set(_FIELDS)
        and isinstance(call.get("tool"), str)
        and type(call.get("arguments")) is dict
    ):
        return _with_figures(dict(call))
    named = tool_named(call)
    step = {name: call[name] for name in _FIELDS if call.get(name) is not None}
    step |= {name: value for name in _NAMES if (value := _first(call, name)) is not None}
    step |= {"tool": named or "unknown", "arguments": arguments_of(call) or {}}
    if call.get("status") in _FAILED and "error" not in step:
        step["error"] = step.pop("result", None) or call["status"]
    for name in ("result", "error", "thought"):
        if name in step and not isinstance(step[name], str):
            step[name] = msgspec.json.encode(step[name], enc_hook=str).decode()
    return _with_figures(step)


def _with_figures(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step with its seconds and tokens as far as they can be such."""
    for name, check in (("seconds", figure_of), ("tokens", count_of)):
        if name in step:
            step[name] = check(step[name])
    return step


def tool_named(call: Mapping[str, Any]) -> str | None:
    """Return the name of the tool that is called; None where the call has none."""
    name = _first(_inner(call), "tool")
    return str(name) if name else None


def named_calls(value: Any, column: str) -> list[tuple[str, dict[str, Any] | None]]:
    """Return the tool and the arguments of each call that a column holds, see calls_in and arguments_of.

    A name alone is a call of that tool that says nothing of arguments. Raises TypeError for a call without a
    tool, and for what is no list of calls.
    """
    named: list[tuple[str, dict[str, Any] | None]] = []
    for call in calls_in(value, column):
        if isinstance(call, str) and call.strip():
            named.append((call.strip(), None))
        elif isinstance(call, Mapping) and (tool := tool_named(call)) is not None:
            named.append((tool, arguments_of(call)))
        else:
            raise TypeError(f"{column} has a call that names no tool: {call!r}"[:200])
    return named


def arguments_of(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a call, also of a text of JSON; None where it says nothing of them.

    What is no object stands under `input`.
    """
    arguments = _first(_inner(call), "arguments")
    if arguments is None:
        return None
    if isinstance(arguments, str):
        text = arguments
        with suppress(msgspec.DecodeError, RecursionError):
            arguments = msgspec.json.decode(text) if text.strip() else {}
    return arguments if isinstance(arguments, dict) else {"input": arguments}


def as_steps(value: Any) -> list[dict[str, Any]] | None:
    """Return the value of the column `steps`: a list of calls, in any of the forms that step_row knows.

    A name alone is a call of that tool. Raises TypeError for what is no list of calls.
    """
    if value == "":
        return None
    steps = []
    for number, call in enumerate(calls_in(value, "steps"), 1):
        if isinstance(call, str) and call.strip():
            steps.append({"tool": call.strip()})
        elif isinstance(call, Mapping) and tool_named(call):
            steps.append(step_row(call))
        else:
            raise TypeError(f"step {number} names no tool: {_short(call)}. Write each as {FORM}")
    return steps


def calls_in(value: Any, column: str) -> list[Any]:
    """Return the calls that a column holds: a list, a text of JSON, or messages with the calls in them.

    Raises TypeError for anything else.
    """
    listed = value
    if isinstance(listed, str):
        with suppress(msgspec.DecodeError, RecursionError):
            listed = msgspec.json.decode(listed)
    if isinstance(listed, Mapping) and isinstance(listed.get("messages"), list):
        listed = listed["messages"]
    if not isinstance(listed, list):
        raise TypeError(f"{column} must be a list of calls such as {FORM}, not {_short(value)}")
    if not any(isinstance(item, Mapping) and any(name in item for name in ROLE_NAMES) for item in listed):
        return listed
    messages = (item for item in listed if isinstance(item, Mapping))
    return [call for item in messages for name in CALLS for call in item.get(name) or ()]


def _inner(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function")
    return function if isinstance(function, Mapping) else call


def _first(call: Mapping[str, Any], field: str) -> Any:
    return next((call[name] for name in _NAMES[field] if call.get(name) is not None), None)


def _short(value: object) -> str:
    return repr(value)[:60]
