"""The flow `doctor`: its command, and what nobody else uses."""
