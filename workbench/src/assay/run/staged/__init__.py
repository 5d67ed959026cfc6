"""Runs in stages: more hosts, tasks or lanes only after the results before are accepted."""
