"""Turns events into samples, statistics and comparisons. Pure: touches no file, process or clock."""
