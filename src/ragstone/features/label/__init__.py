"""The flow `label`: its command, and what nobody else uses."""
