"""Tools that measure databases."""
