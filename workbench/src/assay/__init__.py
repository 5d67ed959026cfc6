"""Assay measures, prices and compares storage, and says which one to choose and why."""

__version__ = "0.1.0"
