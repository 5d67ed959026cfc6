"""Holds `assay predict` against totals that are known and were held out."""
