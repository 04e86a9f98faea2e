"""The touchstone suite: labelled rows that ship, and the cards of what was measured on them."""
