"""The flow `tag`: its command, and what nobody else uses."""
