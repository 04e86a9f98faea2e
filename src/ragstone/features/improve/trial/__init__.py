"""Another prompt on some rows -> what it changes."""
