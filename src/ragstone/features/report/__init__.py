"""The flow `report`: its command, and what nobody else uses."""
