"""Makes traces of what other tools recorded, one reader each."""
