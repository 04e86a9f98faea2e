"""The flow `judge`: its command, and what nobody else uses."""
