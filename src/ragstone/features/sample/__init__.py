"""The flow `sample`: its command, and what nobody else uses."""
