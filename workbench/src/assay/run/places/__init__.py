"""Targets of a run: where they are, and what a run makes, claims and removes there."""
