"""The command `assay advise`."""
