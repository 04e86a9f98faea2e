"""The flow `try`: its command, and what nobody else uses."""
