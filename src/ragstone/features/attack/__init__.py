"""The flow `attack`: its command, and what nobody else uses."""
