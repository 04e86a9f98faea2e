"""The flow `ledger`: its command, and what nobody else uses."""
