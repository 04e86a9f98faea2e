"""Runs and what was found -> a document, rendered for terminal, page, Markdown and notebook."""
