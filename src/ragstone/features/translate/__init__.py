"""The flow `translate`: its command, and what nobody else uses."""
