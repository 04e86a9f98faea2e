"""A RAG assistant: knowledge base, planner, tools, API, chat page."""
