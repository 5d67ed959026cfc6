"""Directories that Assay makes, marks, and alone writes in."""
