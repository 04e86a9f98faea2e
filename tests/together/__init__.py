"""Tests that take several rooms together: the kernel through features, and features beside each other.

They mirror no folder of the source. A test that is beside its room imports only what the room may, so that a
feature can be deleted with its tests; tests/test_deletable.py holds that.
"""
