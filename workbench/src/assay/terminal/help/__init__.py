"""Layout of the commands' help."""
