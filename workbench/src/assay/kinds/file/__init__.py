"""Directories that Assay makes and marks, and in which only Assay writes."""
