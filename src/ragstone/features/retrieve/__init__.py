"""The flow `retrieve`: its command, and what nobody else uses."""
