"""The four benches: what their files of numbers hold, and their reports."""
