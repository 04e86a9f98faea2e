"""What the agent can call: Python functions, functions that make a tool, tools of MCP servers."""
