"""Review of evaluation sets: people accept, edit and reject questions."""
