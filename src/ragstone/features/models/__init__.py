"""The flow `models`: its command, and what nobody else uses."""
