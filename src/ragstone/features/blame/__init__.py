"""The flow `blame`: its command, and what nobody else uses."""
