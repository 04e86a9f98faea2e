"""A code of an error, note, status or exit, or a pasted message -> what it means and what to do."""
