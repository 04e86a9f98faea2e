"""What the agent can call: weather, a table of crops, videos, Python functions, tools of MCP servers."""

from ragstone.assistant.tools.weather import weather_tool

__all__ = ["weather_tool"]
