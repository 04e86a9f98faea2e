"""Judgements and people's labels -> the judge's report card, and means corrected by it."""
