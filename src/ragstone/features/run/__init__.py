"""The flow `run`: its command, and what nobody else uses."""
