"""What the agent can call: Python functions, functions that make a tool, tools of MCP servers."""

from ragstone_assistant.tools.functions import function_tool

__all__ = ["function_tool"]
