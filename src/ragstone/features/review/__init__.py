"""The flow `review`: its command, and what nobody else uses."""
