"""The flow `fit`: its command, and what nobody else uses."""
