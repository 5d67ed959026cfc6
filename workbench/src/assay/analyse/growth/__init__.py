"""Analyses how results grow with the number of hosts, tasks and lanes, and how much they vary."""
