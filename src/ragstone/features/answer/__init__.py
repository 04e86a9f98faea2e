"""The flow `answer`: its command, and what nobody else uses."""
