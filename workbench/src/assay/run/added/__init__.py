"""Adds repeats to a complete run, for what it has left undecided."""
