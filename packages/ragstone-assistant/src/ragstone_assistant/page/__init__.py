"""The chat page, which only uses the HTTP API."""
