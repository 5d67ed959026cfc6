"""Makes traces: records programs, reads what other tools recorded, sorts and writes records."""
