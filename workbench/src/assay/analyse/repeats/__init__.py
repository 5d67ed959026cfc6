"""How many repeats a result needs."""
