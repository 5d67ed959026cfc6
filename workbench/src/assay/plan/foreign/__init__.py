"""From the command line of another program to a study that asks the same."""
