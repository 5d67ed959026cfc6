"""Runs from what other tools measured: `assay import`."""
