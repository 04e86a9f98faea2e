"""Developing a judge on people's labels: a part to work with, a part that stays closed, what a change did."""
