"""Personal data in texts -> placeholders that say what stood there."""
