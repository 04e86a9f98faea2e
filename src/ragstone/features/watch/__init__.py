"""The flow `watch`: its command, and what nobody else uses."""
