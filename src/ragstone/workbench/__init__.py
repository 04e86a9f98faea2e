"""Browse, compare, label, review and develop in a browser; and what serves that and the assistant."""
