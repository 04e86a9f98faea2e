"""Judgements and people's labels -> how far a judge can be trusted."""
