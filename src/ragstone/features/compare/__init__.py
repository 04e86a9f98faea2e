"""The flow `compare`: its command, and what nobody else uses."""
