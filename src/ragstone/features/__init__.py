"""What a user does, one folder each: its values, sums, words, command and pages.

Delete a folder and its lines, and the rest builds. The lines are in cli/app.py (its command),
workbench/pages.py (its pages) and report/_findings.py (its part of a run's report): see kernel/extend.py.
"""
