"""The project for coding agents: tools of the Model Context Protocol, read-only unless a budget is set."""
