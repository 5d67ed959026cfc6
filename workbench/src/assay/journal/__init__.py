"""Journals of what a run makes: each thing is recorded before it is made, and can be removed even after `kill -9`."""
