"""Questions and documents -> the same in another language."""
