"""Existing hosts: named in a study or on a command line, or described in an inventory."""
