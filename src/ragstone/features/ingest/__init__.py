"""The flow `ingest`: its command, and what nobody else uses."""
