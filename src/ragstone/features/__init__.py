"""What a user does, one folder each: its values, sums, words, command and pages.

Delete a folder and its lines, and the rest builds. The lines are in cli/app.py (its command), in
workbench/pages.py (its pages) and here (its part of the report of a run): see kernel/extend.py.
"""

PARTS = {
    "blame": "ragstone.features.blame.run_block",
}
