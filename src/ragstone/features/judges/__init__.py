"""The flow `judges`: its command, and what nobody else uses."""
