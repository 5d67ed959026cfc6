"""Room `advice`: which designs meet a need, what they cost, and what would change the answer."""
