"""Labelling: queues, one question a screen, how well people agree, what is settled."""
