"""The flow `chunk`: its command, and what nobody else uses."""
