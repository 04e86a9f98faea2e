"""The flow `assistant`: its command, and what nobody else uses."""
