"""Describes what looks odd in results."""
