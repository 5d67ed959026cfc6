"""Stages of a study in which hosts, tasks or lanes grow."""
