"""The commands `assay prices`."""
