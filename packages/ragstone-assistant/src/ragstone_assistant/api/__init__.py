"""The assistant over HTTP: OpenAI's chat API, conversations, documents, health and metrics."""
