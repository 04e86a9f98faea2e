"""What the agent can call: weather, a table of crops, videos, Python functions, tools of MCP servers."""

from ragstone.assistant.tools.crops import crops_tool
from ragstone.assistant.tools.functions import function_tool
from ragstone.assistant.tools.mcp import open_mcp_tools
from ragstone.assistant.tools.videos import videos_tool
from ragstone.assistant.tools.weather import weather_tool

__all__ = ["crops_tool", "function_tool", "open_mcp_tools", "videos_tool", "weather_tool"]
