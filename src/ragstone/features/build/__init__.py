"""The flow `build`: its command, and what nobody else uses."""
