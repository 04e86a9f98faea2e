"""Personal data in texts -> placeholders that say what was there."""
