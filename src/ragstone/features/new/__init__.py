"""The flow `new`: its command, and what nobody else uses."""
