"""Converts parameter files of vdbench to studies."""
