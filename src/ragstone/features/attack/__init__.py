"""Answers that try to set their own verdict -> how often a judge lets them."""
