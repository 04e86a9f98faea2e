"""The flow `agree`: its command, and what nobody else uses."""
