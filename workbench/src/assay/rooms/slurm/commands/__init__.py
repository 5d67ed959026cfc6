"""Commands for runs that were submitted to a scheduler."""
