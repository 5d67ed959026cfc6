"""Commands for runs that a scheduler has."""
