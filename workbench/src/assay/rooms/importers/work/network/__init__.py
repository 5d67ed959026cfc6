"""Tools that measure networks."""
