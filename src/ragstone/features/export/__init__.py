"""The flow `export`: its command, and what nobody else uses."""
