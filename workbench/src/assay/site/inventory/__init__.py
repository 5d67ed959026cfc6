"""Hosts that exist already: named in a study or on a command line, and described in an inventory."""
