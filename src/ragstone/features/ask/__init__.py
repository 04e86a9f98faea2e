"""The flow `ask`: its command, and what nobody else uses."""
