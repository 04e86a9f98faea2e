"""What the ledger holds: shown, exported, pruned, salvaged."""
