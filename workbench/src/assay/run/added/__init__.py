"""Repeats that are added to a run which is over, for what it has left undecided."""
