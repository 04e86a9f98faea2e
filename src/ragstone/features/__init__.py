"""What a user does, one folder each: its values, sums, words and command.

Delete a folder and its lines, and the rest builds. The lines are in cli/app.py (its command) and here (its
part of the report of a run: see kernel.extend).
"""

PARTS = {
    "blame": "ragstone.features.blame.run_block",
}
